/**
 * Pauses as files: `storage/paused/<agent>` pauses that agent, `storage/paused/task.<id>` a task
 * and everything under it. The text is the reason. A person may create or remove the file with an
 * editor.
 */
import path from 'node:path';
import { fenced } from '../../domain/fence.js';
import { writtenAt } from '../../domain/stamp.js';
import { isSafeId } from '../../domain/task/id.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Pauses } from '../../ports/pauses.js';

export const PAUSED = path.join('storage', 'paused');

/** The prefix of the file name that pauses a task; the task's id follows. */
export const TASK = 'task.';

const MAX_REASON_BYTES = 4096;

/** A folder that changed this recently may change again without another stamp. */
const YOUNG_MS = 100;

interface PausesOptions {
  root: string;
  disk: Disk;
  clock: Pick<Clock, 'now'>;
}

export function pauses({ root, disk, clock }: PausesOptions): Pauses {
  const folder = path.join(root, PAUSED);
  let paused: Map<string, string> = new Map();
  let tasks: Map<string, string> = new Map();
  let stamps = '';
  /** The names in the folder when it had this stamp; undefined: not known. */
  let listed: { stamp: string | undefined; names: ReadonlySet<string> } | undefined;

  return {
    look() {
      const names = [...namesNow()];
      const now = names.map((name) => `${name} ${disk.stamp(path.join(folder, name))}`).join('\n');
      if (now === stamps) return paused;
      stamps = now;
      const isTask = (name: string): boolean => name.startsWith(TASK);
      paused = new Map(names.filter((name) => !isTask(name)).map((name) => [name, reason(name)]));
      tasks = new Map(names.filter(isTask).map((name) => [name.slice(TASK.length), reason(name)]));
      return paused;
    },
    all: () => paused,
    tasks: () => tasks,
    isTaskPaused: (root) => namesNow().has(TASK + root),
    isPaused: (agent) => namesNow().has(agent),
  };

  /** Lists the folder only if it may have changed since this turn's first look. */
  function namesNow(): ReadonlySet<string> {
    const stamp = disk.glance(folder);
    if (listed !== undefined && listed.stamp === stamp) return listed.names;
    const names = new Set(stamp === undefined ? [] : entries().filter(isSafeId).sort());
    const isSettled = stamp === undefined || clock.now().getTime() - Number(writtenAt(stamp) / 1_000_000n) > YOUNG_MS;
    listed = isSettled ? { stamp, names } : undefined;
    return names;
  }

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
