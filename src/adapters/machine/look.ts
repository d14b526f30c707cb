/** Figures of this machine from Node itself, so that no program has to run for them. */
import { attempt } from '../../domain/attempt.js';
import fs from 'node:fs';
import os from 'node:os';
import type { Machine, MachineState } from '../../ports/reading/machine.js';
import { systemName } from './surroundings.js';

export function machine(root: string): Machine {
  return {
    look() {
      const load = os.loadavg();
      return {
        system: systemName(),
        processors: os.availableParallelism(),
        upMs: os.uptime() * 1000,
        // Windows counts no load and reports zeros.
        load: os.platform() === 'win32' ? undefined : [load[0]!, load[1]!, load[2]!],
        memory: memory(),
        disk: diskOf(root),
        process: { memoryBytes: process.memoryUsage.rss(), upMs: process.uptime() * 1000 },
      };
    },
  };
}

function memory(): MachineState['memory'] {
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < os.totalmem();
  return {
    freeBytes: Math.min(os.freemem(), process.availableMemory()),
    totalBytes: isLimited ? limit : os.totalmem(),
  };
}

function diskOf(root: string): MachineState['disk'] {
  const found = attempt(() => fs.statfsSync(root));
  return found && { freeBytes: found.bavail * found.bsize, totalBytes: found.blocks * found.bsize };
}
