/**
 * Pauses as files: `storage/paused/<agent>` pauses that agent, and its text is the reason. A person
 * may create or remove the file with an editor.
 */
import path from 'node:path';
import { fenced } from '../../domain/fence.js';
import { isSafeId } from '../../domain/task/id.js';
import type { Disk } from '../../ports/disk.js';
import type { Pauses } from '../../ports/pauses.js';

export const PAUSED = path.join('storage', 'paused');

const MAX_REASON_BYTES = 4096;

export function pauses({ root, disk }: { root: string; disk: Disk }): Pauses {
  const folder = path.join(root, PAUSED);
  let paused: Map<string, string> = new Map();
  let stamps = '';

  return {
    look() {
      const names = entries().filter(isSafeId).sort();
      const now = names.map((name) => `${name} ${disk.stamp(path.join(folder, name))}`).join('\n');
      if (now === stamps) return paused;
      stamps = now;
      paused = new Map(names.map((name) => [name, reason(name)]));
      return paused;
    },
    all: () => paused,
    isPaused: (agent) => isSafeId(agent) && disk.stamp(path.join(folder, agent)) !== undefined,
  };

  function entries(): string[] {
    try {
      return disk.list(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return []; // a file is in its place
      throw error;
    }
  }

  /** An unreadable entry still pauses the agent: when in doubt, do not run. */
  function reason(name: string): string {
    const read = fenced(name, () => disk.read(path.join(folder, name), MAX_REASON_BYTES));
    return read.kind === 'file' ? read.bytes.toString('utf8').replace(/\s+/g, ' ').trim() : '';
  }
}
