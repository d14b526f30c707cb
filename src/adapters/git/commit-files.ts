/** One commit: reads the files that changed, in slices, and hands them to git. */
import type { Message } from './changes/change-lists.js';
import { pathInHistory } from './changes/covered.js';
import { nestedRepositories, placesOfTask, readNow, taskOf } from './changes/files-now.js';
import type { Importer, Person } from './repository/importer.js';
import { kindOf } from './changes/stamps-at.js';
import type { Entry, Stamps } from './changes/stamps.js';
import type { CommittedFile, OpenTarget, Target } from './repository/target.js';

/** A repository that this process may write to now. */
export interface Ready {
  opened: OpenTarget;
  stamps: Stamps;
  /** The number of files of each minute since `from`; counted when it is first needed. */
  minutes?: { from: number; counts: Map<number, number> };
  /** Started when it is first needed. */
  git(): Importer;
}

export interface NewCommit {
  paths: ReadonlySet<string>;
  /** The message, or a function that makes it from the committed names. */
  message: Message | ((names: readonly string[]) => Message);
  author: Person;
  committer: Person;
  at: Date;
  evenIfSame?: boolean;
  /** Files that changed while the files of the commit were read. */
  late?: () => Iterable<string>;
}

/**
 * Another git process moved the branch meanwhile: one that a person runs, or one that a killed
 * process left behind. The commit is made again on top.
 */
export class BranchMoved extends Error {}

const SLICE_MS = 1;
/**
 * Git rewrites a folder with every new file and searches it name by name, so folders stay small.
 */
const MAX_PER_MINUTE = 250;

/** Undefined if there was nothing to commit. */
export async function commitFiles(
  ready: Ready,
  root: string,
  target: Target,
  { paths, message, author, committer, at, evenIfSame = false, late = () => [] }: NewCommit,
): Promise<string | undefined> {
  const { opened, stamps } = ready;
  const isNested = nestedRepositories(root);
  const entries = new Map<string, Entry | undefined>();
  const committed: CommittedFile[] = [];
  let git: Importer | undefined;
  let sliceFrom = performance.now();
  const wanted = await target.wanted(opened, [...paths]);
  for (const name of wanted) {
    add(name);
    if (performance.now() - sliceFrom < SLICE_MS) continue;
    await begun()?.drained();
    await new Promise((resolve) => setImmediate(resolve));
    sliceFrom = performance.now();
  }
  // No pause from here on, so that every task of this process is in exactly one place.
  for (const name of late()) if (taskOf(name) !== undefined) add(name);
  addMovedTasks();
  if (begun() === undefined && !evenIfSame) return undefined;
  const id = await begin().end();
  if (target.tipNow(opened.ref) !== id) throw new BranchMoved();
  opened.tip = id;
  for (const [name, entry] of entries) {
    if (entry === undefined) stamps.remove(name);
    else stamps.set(name, entry);
  }
  stamps.save(id);
  if (committed.length > 0) await target.committed(opened, committed);
  return id;

  function begun(): Importer | undefined {
    return git;
  }

  function begin(): Importer {
    if (git !== undefined) return git;
    git = ready.git();
    const { subject, body } = typeof message === 'function' ? message(wanted) : message;
    const text = `${subject}\n${body === '' ? '' : `\n${body}\n`}`;
    git.begin({ ref: opened.ref, parent: opened.tip, author, committer, at, message: text });
    return git;
  }

  function add(name: string): void {
    const known = entries.has(name) ? entries.get(name) : stamps.get(name);
    const now = readNow(`${root}/${name}`);
    if (now.kind === 'missing' && known === undefined) return;
    if (now.kind === 'left_out' || isNested(name)) return;
    if (now.kind === 'missing') {
      begin().remove(pathInHistory(name, known!.minute));
      entries.set(name, undefined);
    } else {
      const minute = known?.minute ?? kindOf(name, target.isByTime ? freeMinute(now.minute) : 0);
      begin().put(pathInHistory(name, minute), now.mode, now.bytes);
      entries.set(name, { stamp: now.stamp, minute });
    }
    if (!target.isByTime)
      committed.push({ path: name, ...(now.kind === 'file' ? now : { mode: '', bytes: undefined }) });
  }

  /** The minute of a file, or a later minute whose folder has room. */
  function freeMinute(wanted: number): number {
    if (ready.minutes === undefined || wanted < ready.minutes.from)
      ready.minutes = { from: wanted, counts: stamps.minutes(wanted) };
    const { counts } = ready.minutes;
    let minute = wanted;
    while ((counts.get(minute) ?? 0) >= MAX_PER_MINUTE) minute++;
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
    return minute;
  }

  /** A task that another process is moving at this moment must still be in one folder. */
  function addMovedTasks(): void {
    const there = new Set<string>();
    const gone = new Set<string>();
    for (const name of new Set([...paths, ...entries.keys()])) {
      const task = taskOf(name);
      if (task !== undefined) (entries.get(name) === undefined ? gone : there).add(task);
    }
    for (const task of gone) if (!there.has(task)) for (const name of placesOfTask(root, task)) add(name);
  }
}
