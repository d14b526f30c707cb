/**
 * Task files and conversations that need a person: unreadable, quarantined, damaged or misplaced.
 * For `guild check`, which only reads: it leaves invalid files in place, and the next working
 * process quarantines them.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/base/layout.js';
import { problem, type Problem } from '../../domain/problem.js';
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
  const sessions = [...look.open()].flatMap(({ task }) => task.session ?? []);
  return [...all, ...(await unreadable(root, new Set(sessions))), ...quarantineProblems(root)];
}

/** Unreadable conversations of open tasks. */
async function unreadable(root: string, sessions: ReadonlySet<string>): Promise<Problem[]> {
  if (sessions.size === 0) return [];
  const store = openReader(root);
  const opened = await Promise.all([...sessions].map((id) => store.sessions.open(id)));
  return opened.flatMap((session) => (session.kind === 'held' ? session.problem : []));
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
