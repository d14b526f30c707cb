/** Whether a task has ended. Asked for each newly found file of an open task. */
import { fenced, isUnreadable, type Unreadable } from '../../domain/fence.js';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './base/layout.js';
import { hasEnded } from './base/where-now.js';

interface EndedTasks {
  has(id: string): boolean | Unreadable;
  /** Lists the ended tasks if there are fewer than this, so that `has` need not access the disk. */
  list(max: number): void;
  forget(): void;
}

export function endedTasks(disk: Disk, layout: Layout): EndedTasks {
  let names: ReadonlySet<string> | undefined;
  return {
    has(id) {
      if (names !== undefined) return names.has(`${id}.json`);
      return fenced('tasks/completed or tasks/failed', () => hasEnded(disk, layout, id));
    },
    list(max) {
      const all = (['completed', 'failed'] as const).map((state) =>
        fenced(state, () => disk.list(layout.tasks(state), max)),
      );
      const isComplete = all.every((listed) => !isUnreadable(listed) && listed.length < max);
      names = isComplete ? new Set((all as string[][]).flat()) : undefined;
    },
    forget: () => void (names = undefined),
  };
}
