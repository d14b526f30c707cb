/**
 * Task files and conversations that need a person: unreadable, quarantined, damaged or misplaced.
 * For `guild check`, which only reads: it leaves invalid files in place, and the next working
 * process quarantines them.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { FarStore } from '../../adapters/far/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { problem, type Problem } from '../../domain/problem.js';
import { openTaskIndex, type Progress } from './aggregates/open-index.js';
import { tornEnd } from '../../domain/session/tear.js';
import { missingDependency } from '../../domain/task/missing-dependency.js';
import type { Task } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import type { Tasks } from '../../ports/store/tasks.js';
import { openLook } from './open-look.js';
import { openFarReader, openReader } from './open-reader.js';

/** Empty if the folder is not a workspace. */
export async function taskFileProblems(folder: string, onProgress?: Progress): Promise<Problem[]> {
  const root = path.resolve(folder);
  if (!isWorkspace(realDisk(), root)) return [];
  const shared = openFarReader(realDisk(), root);
  if (shared !== undefined) return sharedProblems(root, shared);
  const look = openLook(root, { leaves: true });
  const { problems, strays = [] } = await look.scan(true);
  const ended = openTaskIndex(root, onProgress).look();
  const all = [...problems, ...strays, ...ended.problems()];
  const open = [...look.open()].map(({ task }) => task);
  all.push(...(await missingDependencies(open, look)));
  return [...all, ...(await unreadable(() => openReader(root), open)), ...quarantineProblems(root)];
}

/** Records in a shared store are always valid, and files here are only a view of them. */
async function sharedProblems(root: string, store: FarStore): Promise<Problem[]> {
  try {
    await store.tasks.scan();
    const open = [...store.tasks.open()].map(({ task }) => task);
    const missing = await missingDependencies(open, store.tasks);
    return [...missing, ...(await unreadable(() => store, open)), ...quarantineProblems(root)];
  } finally {
    await store.close();
  }
}

async function missingDependencies(
  open: readonly Task[],
  { isOpen, read }: Pick<Tasks, 'isOpen' | 'read'>,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const task of open)
    for (const id of task.dependencies)
      if (!isOpen(id) && (await read(id)) === undefined) problems.push(missingDependency(task, id));
  return problems;
}

async function unreadable(reader: () => Store, open: readonly Task[]): Promise<Problem[]> {
  const sessions = new Map(open.flatMap((task) => (task.session === undefined ? [] : [[task.session, task]])));
  if (sessions.size === 0) return [];
  const store = reader();
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
