/** Pauses as files: `storage/paused/<agent>` pauses it, and its text says why. Anybody may make or remove one with an editor. */
import path from 'node:path';
import { isSafeId } from '../../domain/task/id.js';
import type { Disk } from '../../ports/disk.js';
import type { Pauses } from '../../ports/pauses.js';

export const PAUSED = path.join('storage', 'paused');

/** More is not a reason but a text. */
const MAX_BYTES = 4096;

export function pauses({ root, disk }: { root: string; disk: Disk }): Pauses {
  const folder = path.join(root, PAUSED);
  let paused: Map<string, string> = new Map();
  let stamps = '';

  return {
    look() {
      const names = listed().filter(isSafeId).sort();
      const now = names.map((name) => `${name} ${disk.stamp(path.join(folder, name))}`).join('\n');
      if (now === stamps) return paused;
      stamps = now;
      paused = new Map(names.map((name) => [name, reason(name)]));
      return paused;
    },
    all: () => paused,
    isPaused: (agent) => isSafeId(agent) && disk.stamp(path.join(folder, agent)) !== undefined,
  };

  function listed(): string[] {
    try {
      return disk.list(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return []; // somebody put a file there
      throw error;
    }
  }

  /** Whatever lies there pauses, readable or not: a doubt is no leave to go on. */
  function reason(name: string): string {
    const read = disk.read(path.join(folder, name), MAX_BYTES);
    return read.kind === 'file' ? read.bytes.toString('utf8').replace(/\s+/g, ' ').trim() : '';
  }
}
