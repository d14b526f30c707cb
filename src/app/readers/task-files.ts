/**
 * Task files and conversations that need a person: unreadable, quarantined, damaged or misplaced.
 * For `guild check`, which only reads: it leaves invalid files in place, and the next working
 * process quarantines them.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { problem, type Problem } from '../../domain/problem.js';
import { tornEnd } from '../../domain/session/tear.js';
import { missingDependency } from '../../domain/task/missing-dependency.js';
import type { Task } from '../../domain/task/task.js';
import { openTaskIndex, type Progress } from './aggregates/open-index.js';
import { openLook } from './open-look.js';
import { openReader } from './open-reader.js';

/** Empty if the folder is not a workspace. */
export async function taskFileProblems(folder: string, onProgress?: Progress): Promise<Problem[]> {
  const root = path.resolve(folder);
  if (!isWorkspace(realDisk(), root)) return [];
  const look = openLook(root, { leaves: true });
  const { problems, strays = [] } = await look.scan(true);
  const ended = openTaskIndex(root, onProgress).look();
  const all = [...problems, ...strays, ...ended.problems()];
  const open = [...look.open()].map(({ task }) => task);
  for (const task of open)
    for (const id of task.dependencies)
      if (!look.isOpen(id) && (await look.read(id)) === undefined) all.push(missingDependency(task, id));
  return [...all, ...(await unreadable(root, open)), ...quarantineProblems(root)];
}

/** Unreadable conversations of open tasks. */
async function unreadable(root: string, open: readonly Task[]): Promise<Problem[]> {
  const sessions = new Map(open.flatMap((task) => (task.session === undefined ? [] : [[task.session, task]])));
  if (sessions.size === 0) return [];
  const store = openReader(root);
  const problems = await Promise.all(
    [...sessions].map(async ([id, { written }]) => {
      const opened = await store.sessions.open(id);
      if (opened.kind === 'held') return opened.problem;
      return opened.kind === 'open' ? tornEnd(opened.session, written, `sessions/${id}.session.yaml`) : undefined;
    }),
  );
  return problems.flatMap((each) => each ?? []);
}

const WHY = '.why.md';

function quarantineProblems(root: string): Problem[] {
  const disk = realDisk();
  const names = disk.list(path.join(root, 'quarantine'));
  const quarantined = names.filter((name) => !name.startsWith('.') && !name.endsWith(WHY)).sort();
  return quarantined.map((name) => {
    const file = `quarantine/${name}`;
    const why = disk.read(path.join(root, `${file}${WHY}`));
    const first = why.kind === 'file' ? why.bytes.toString('utf8').split('\n')[0]! : 'the reason was not recorded';
    return problem('bad_file', `${file} is in quarantine: ${first}`, {
      where: { file },
      hint: 'fix it and move it back to tasks/pending, or delete it with its .why.md',
    });
  });
}
