/** The tables of a workspace as a full read gives them, to compare with the index. */
import path from 'node:path';
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { files } from '../../../src/adapters/files/index.js';
import { processes } from '../../../src/adapters/processes/index.js';
import type { Event } from '../../../src/domain/event.js';
import { problem, type Problem } from '../../../src/domain/problem.js';
import { writtenAt } from '../../../src/domain/stamp.js';
import { parseTask } from '../../../src/text/records/task.js';
import { taskRow } from '../../../src/text/records/task-row.js';

interface Plain {
  rows: Record<string, unknown>[];
  problems: Problem[];
}

export async function plainEnded(root: string): Promise<Plain> {
  const store = files({ root, disk: disk(), clock: clock(), ids: ids(), processes: processes() });
  return { rows: (await store.tasks.ended()).map(taskRow), problems: plainProblems(root) };
}

/** Of records that cannot be read, newest first. */
function plainProblems(root: string): Problem[] {
  const found = ['completed', 'failed'].flatMap((state) =>
    disk()
      .list(path.join(root, 'tasks', state))
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .flatMap((name) => {
        const file = path.join('tasks', state, name);
        const stamp = disk().stamp(path.join(root, file));
        return stamp === undefined ? [] : [{ file, name, at: writtenAt(stamp) }];
      }),
  );
  found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return found.flatMap(({ file, name }) => {
    const read = disk().read(path.join(root, file));
    if (read.kind !== 'file') return [problem('bad_file', `${file} cannot be read`, { where: { file }, hint: HINT })];
    const parsed = parseTask(read.bytes, { file, name: path.parse(name).name, now: new Date().toISOString() });
    return parsed.kind === 'task' ? [] : [{ ...parsed.problem, hint: HINT }];
  });
}

const HINT = 'it counts as ended and is not shown: fix it, or move it out of tasks/';

export function plainEvents(root: string, task?: string): Promise<Event[]> {
  const store = files({ root, disk: disk(), clock: clock(), ids: ids(), processes: processes() });
  return store.events.list(task === undefined ? {} : { task });
}
