/** Going back to an earlier commit: files and tasks as they were then, as a new commit. Run records of effects are never touched. */
import path from 'node:path';
import { disk } from '../adapters/disk/index.js';
import { problem, ProblemError } from '../domain/problem.js';
import { TASK_STATES } from '../domain/task/task.js';
import type { Commit, FileChange } from '../ports/history.js';
import { openHistory } from './readers/history.js';
import { openReader } from './readers/open-reader.js';

type Env = Record<string, string | undefined>;

interface Undone {
  /** The commit that was gone back to. */
  to: Commit;
  files: FileChange[];
  /** The new commit; absent where nothing was done yet. */
  commit?: string;
}

/** What going back would change; with `really`, it is done. `force`: also while other processes work here. */
export async function undoTo(
  root: string,
  to: string,
  env: Env,
  { really = false, force = false } = {},
): Promise<Undone> {
  const history = openHistory(root, env);
  const state = history.state();
  if (!state.on) throw new ProblemError(problem('not_found', `no history is kept here: ${state.why}`));
  try {
    const { commit, files } = await history.changes(to);
    if (!really || files.length === 0) return { to: commit, files };
    const store = openReader(root);
    const others = (await store.presence.peers()).filter((peer) => peer.id !== store.presence.peer.id);
    if (others.length > 0 && !force) throw new ProblemError(atWork(others.map((peer) => peer.pid)));
    const done = await history.undo(commit.id);
    // Git removes folders that become empty; others may be looking into them.
    const on = disk();
    for (const one of TASK_STATES) on.makeFolder(path.join(path.resolve(root), 'tasks', one));
    store.events.append({
      at: new Date().toISOString(),
      name: 'workspace.undone',
      cause: 'human',
      to: commit.id,
      commit: done.commit,
    });
    await store.close();
    return { to: commit, files, commit: done.commit };
  } finally {
    await history.close();
  }
}

function atWork(pids: number[]): ReturnType<typeof problem> {
  const who = pids.length === 1 ? `process ${pids[0]} is` : `${pids.length} processes are`;
  return problem('needs_human', `${who} at work in this workspace`, {
    hint: 'stop guild watch first; --force goes back all the same, and what is being worked on now may come out double',
  });
}
