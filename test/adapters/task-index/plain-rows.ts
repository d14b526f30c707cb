/** The tables of a workspace as a full read gives them, to compare with what the index says. */
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { files } from '../../../src/adapters/files/index.js';
import { processes } from '../../../src/adapters/processes/index.js';
import type { Event } from '../../../src/domain/event.js';
import type { Problem } from '../../../src/domain/problem.js';
import { taskRow } from '../../../src/text/records/task-row.js';

interface Plain {
  rows: Record<string, unknown>[];
  problems: Problem[];
}

export async function plainEnded(root: string): Promise<Plain> {
  const problems: Problem[] = [];
  const store = files({ root, disk: disk(), clock: clock(), ids: ids(), processes: processes() });
  const ended = await store.tasks.ended({ skipped: (problem) => void problems.push(problem) });
  return { rows: ended.map(taskRow), problems };
}

export function plainEvents(root: string, task?: string): Promise<Event[]> {
  const store = files({ root, disk: disk(), clock: clock(), ids: ids(), processes: processes() });
  return store.events.list(task === undefined ? {} : { task });
}
