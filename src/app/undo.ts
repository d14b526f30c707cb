/**
 * Restores files and tasks from an earlier commit, as a new commit. Run records of effects are
 * never changed.
 */
import path from 'node:path';
import { disk as realDisk } from '../adapters/disk/index.js';
import type { Env } from '../domain/config/env.js';
import { problem, ProblemError, problemError } from '../domain/problem.js';
import { TASK_STATES } from '../domain/task/task.js';
import type { Commit, FileChange, History, OldContent } from '../ports/history.js';
import type { Ledger } from '../ports/ledger.js';
import type { Store } from '../ports/store/index.js';
import { lineDiff } from '../text/lines/line-diff.js';
import { readHistoryDesk } from './far/history-desk.js';
import { refuseIfHeld, undoInStore } from './machines/undo-in-store.js';
import { openHistory } from './readers/history.js';
import { farPartsOf, openReader } from './readers/open-reader.js';

export interface Undone {
  to: Commit;
  files: FileChange[];
  /** Files that differ but are not restored: the store that the folder mirrors decides them. */
  left: FileChange[];
  /** The new commit; absent for a preview. */
  commit?: string;
}

/**
 * Lists the changes of the undo; with `really` they are made. `force`: even while other processes
 * work here.
 */
export async function undoTo(
  root: string,
  to: string,
  env: Env,
  { really = false, force = false } = {},
): Promise<Undone> {
  const history = await openHistory(root, env);
  const state = history.state();
  if (!state.on) throw problemError('not_found', `no history is kept here: ${state.why}`);
  try {
    const { commit, files, left } = await history.changes(to);
    if (!really || files.length === 0) return { to: commit, files, left };
    return { to: commit, files, left, commit: await goBack(history, root, { to: commit.id, files, force }) };
  } finally {
    await history.close();
  }
}

interface Wanted {
  to: string;
  files: FileChange[];
  force: boolean;
}

async function goBack(history: History, folder: string, { to, files, force }: Wanted): Promise<string> {
  const root = path.resolve(folder);
  const store = openReader(root);
  try {
    const ledger = farPartsOf(store)?.ledger;
    if (ledger === undefined) await refuseIfOthersWork(store, force);
    else await refuseInStore(ledger, files, force);
    const restore = ledger && ((old: OldContent[]) => undoInStore(ledger, root, old));
    const { commit } = await history.undo(to, restore);
    // Git removes folders that become empty, and other processes may still list them.
    const disk = realDisk();
    for (const taskState of TASK_STATES) disk.makeFolder(path.join(root, 'tasks', taskState));
    store.events.append({ at: new Date().toISOString(), name: 'workspace.undone', cause: 'human', to, commit });
    await store.flush();
    return commit;
  } finally {
    await store.close();
  }
}

async function refuseIfOthersWork(store: Store, force: boolean): Promise<void> {
  const others = (await store.presence.peers()).filter((peer) => peer.id !== store.presence.peer.id);
  if (others.length > 0 && !force) throw new ProblemError(atWork(others.map((peer) => peer.pid)));
}

async function refuseInStore(ledger: Ledger, files: FileChange[], force: boolean): Promise<void> {
  if (!(await readHistoryDesk(ledger))?.isRunning) throw new ProblemError(notSynced());
  if (!force) await refuseIfHeld(ledger, files);
}

/** The commit before the first one that names the task; undefined if none does. */
export async function commitBefore(root: string, task: string, env: Env): Promise<string | undefined> {
  const history = await openHistory(root, env);
  if (!history.state().on) return undefined;
  try {
    const first = (await history.log({ task, limit: MOST_COMMITS })).at(-1);
    return first === undefined ? undefined : `${first.id}~1`;
  } finally {
    await history.close();
  }
}

/** More commits than one task makes while a person waits for it. */
const MOST_COMMITS = 1000;

/** A file of a preview, with the lines that an undo would change in it. */
interface Previewed extends Omit<FileChange, 'texts'> {
  /** Absent: the file is long or not text. */
  lines?: string[];
}

/** What an undo would change, line by line. Writes nothing. */
export async function previewUndo(root: string, to: string, env: Env): Promise<{ to: Commit; files: Previewed[] }> {
  const history = await openHistory(root, env);
  const state = history.state();
  if (!state.on) throw problemError('not_found', `no history is kept here: ${state.why}`);
  try {
    const { commit, files } = await history.changes(to, { texts: true });
    return { to: commit, files: files.map(previewed) };
  } finally {
    await history.close();
  }
}

const LINES_MAX = 1000;

function previewed({ texts, ...file }: FileChange): Previewed {
  if (texts === undefined) return file;
  const diff = lineDiff(texts.now, texts.then);
  const lines = diff === '' ? [] : diff.split('\n');
  return lines.length > LINES_MAX ? file : { ...file, lines };
}

function notSynced(): ReturnType<typeof problem> {
  return problem(
    'needs_human',
    'guild sync --history does not run in this folder, so it may not show the newest state',
    {
      hint: 'start it in another terminal, then undo again',
    },
  );
}

function atWork(pids: number[]): ReturnType<typeof problem> {
  const who = pids.length === 1 ? `process ${pids[0]} is` : `${pids.length} processes are`;
  return problem('needs_human', `${who} at work in this workspace`, {
    hint: 'stop guild watch first, or use --force: tasks in progress may then be done twice',
  });
}
