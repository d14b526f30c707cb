import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { bus, type BusOptions } from '../../src/adapters/bus/index.js';
import { busWorld, memoryBus } from '../kit/memory/bus.js';
import { ledgerBus } from '../../src/adapters/bus/ledger.js';
import { disk } from '../../src/adapters/disk/index.js';
import { far } from '../../src/adapters/far/index.js';
import { ledgerState, memoryLedger } from '../../src/adapters/ledger/memory.js';
import type { Disk } from '../../src/ports/disk.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk } from '../kit/sim-disk.js';
import { countedIds, simProcesses } from '../kit/sim-processes.js';
import { busContract, note, type BusBench } from './bus.js';

const all = tempFolder('bus', { after });

const patience = (maxUnread = 10_000): { maxUnread: number; maxWaitMs: number } => ({
  maxUnread,
  maxWaitMs: 1000,
});

busContract('memory', () => {
  const clock = simClock();
  const world = busWorld();
  return { clock, join: (maxUnread) => memoryBus({ clock, world, patience: patience(maxUnread) }) };
});

busContract('a ledger in memory', () => {
  const clock = simClock();
  const state = ledgerState();
  const ids = countedIds();
  const me = simProcesses().start().me();
  return {
    clock,
    join(maxUnread) {
      const store = far({ ledger: memoryLedger(state), clock, ids, me, lag: queueMicrotask });
      return ledgerBus({ ...store.far, clock, patience: patience(maxUnread) });
    },
  };
});

test('a damaged line that a worker put into a shared store is skipped', async () => {
  const clock = simClock();
  const ledger = memoryLedger(ledgerState());
  const store = far({ ledger, clock, ids: countedIds(), me: simProcesses().start().me(), lag: queueMicrotask });
  const bus = ledgerBus({ ...store.far, clock, patience: patience() });
  await bus.tell([note('a')]);
  const texts = ['no JSON', 'null', '{"id": "b"}', '{"id": "c", "body": {"type": "deadlock"}}'];
  const adds = ['bus/news', 'bus-done/news'].flatMap((log) => texts.map((text) => ({ log, text })));
  await ledger.commit('damage', { puts: [], adds });
  await bus.tell([note('d')]);
  await bus.refresh();
  assert.deepEqual(
    bus.unread('news', 'bob').map(({ id }) => id),
    ['a', 'd'],
  );
});

busContract('files', () => filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-'))));

busContract('files in many small segments', () =>
  filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-')), { segmentBytes: 300 }),
);

busContract('files with almost nothing in memory', () =>
  filesBench(disk(), fs.mkdtempSync(path.join(all, 'bench-')), { segmentBytes: 300, maxLoaded: 0, maxIdle: 1 }),
);

busContract('files on a simulated disk', () => filesBench(simDisk(), '/w'));

function filesBench(disk: Disk, root: string, more: Partial<BusOptions> = {}): BusBench {
  const clock = simClock();
  return {
    clock,
    join: (maxUnread) => bus({ root, disk, clock, patience: patience(maxUnread), ...more }),
  };
}
