/**
 * Files of tasks that wait for a person: held, set aside, ended and damaged, or lying where nobody looks, and conversations that cannot be read. For `guild check`, which
 * only reads: what can never be a task is left where it lies, and the next process that works sets it aside.
 */
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { problem, type Problem } from '../../domain/problem.js';
import { openLook } from './open-look.js';
import { openReader } from './open-reader.js';

/** Nothing where the folder is no workspace. */
export async function taskFileProblems(folder: string): Promise<Problem[]> {
  const root = path.resolve(folder);
  if (!isWorkspace(disk(), root)) return [];
  const look = openLook(root, { leaves: true });
  const { problems, strays = [] } = await look.scan(true);
  const found = [...problems, ...strays];
  await look.ended({ skipped: (one) => void found.push(one) });
  const begun = [...look.open()].flatMap(({ task }) => task.session ?? []);
  return [...found, ...(await unreadable(root, new Set(begun))), ...setAside(root)];
}

/** Conversations that open tasks cannot go on with. */
async function unreadable(root: string, sessions: ReadonlySet<string>): Promise<Problem[]> {
  if (sessions.size === 0) return [];
  const store = openReader(root);
  const opened = await Promise.all([...sessions].map((id) => store.sessions.open(id)));
  return opened.flatMap((one) => (one.kind === 'held' ? one.problem : []));
}

const WHY = '.why.md';

function setAside(root: string): Problem[] {
  const on = disk();
  const names = on.list(path.join(root, 'quarantine'));
  const lying = names.filter((name) => !name.startsWith('.') && !name.endsWith(WHY)).sort();
  return lying.map((name) => {
    const file = `quarantine/${name}`;
    const why = on.read(path.join(root, `${file}${WHY}`));
    const first = why.kind === 'file' ? why.bytes.toString('utf8').split('\n')[0]! : 'nobody wrote down why';
    return problem('bad_file', `${file} was set aside: ${first}`, {
      where: { file },
      hint: 'fix it and move it back to tasks/pending, or delete it with its .why.md',
    });
  });
}
