import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { bus, busWorld, memoryBus, type BusOptions } from '../../src/adapters/bus/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import type { Disk } from '../../src/ports/disk.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk } from '../kit/sim-disk.js';
import { busContract, type BusBench } from './bus.js';

const all = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-bus-'));
after(() => fs.rmSync(all, { recursive: true, force: true }));

const patience = (mostUnread = 10_000): { mostUnread: number; patienceMs: number } => ({
  mostUnread,
  patienceMs: 1000,
});

busContract('memory', () => {
  const clock = simClock();
  const world = busWorld();
  return { clock, join: (mostUnread) => memoryBus({ clock, world, patience: patience(mostUnread) }) };
});

busContract('files', () => filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-'))));

busContract('files in many small parts', () =>
  filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-')), { partBytes: 300 }),
);

busContract('files of which next to nothing is in memory', () =>
  filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-')), { partBytes: 300, mostAwake: 0, mostIdle: 1 }),
);

busContract('files on a simulated disk', () => filesBench(simDisk(), '/w'));

function filesBench(on: Disk, root: string, more: Partial<BusOptions> = {}): BusBench {
  const clock = simClock();
  return {
    clock,
    join: (mostUnread) => bus({ root, disk: on, clock, patience: patience(mostUnread), ...more }),
  };
}
