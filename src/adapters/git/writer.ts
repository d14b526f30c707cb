/**
 * Writes commits: changes that other processes left, changes of this one, then changes of people.
 * One process writes at a time; the others leave their lists to it. After a failure everything is
 * in the next commit.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import { INTERVALS } from '../../domain/intervals.js';
import type { Clock } from '../../ports/clock.js';
import type { Processes } from '../../ports/processes.js';
import { beginning } from './changes/beginning.js';
import { changeLists, makeFolder, type Batch, type Message } from './changes/change-lists.js';
import { BranchMoved, commitFiles, type NewCommit, type Ready } from './commit-files.js';
import { killed } from './changes/killed.js';
import { taskOf } from './changes/files-now.js';
import { importer, type Importer, type Person } from './repository/importer.js';
import { historyLock } from './changes/lock.js';
import { changesByPeople } from './changes/look.js';
import { mergePacks, removeLeftovers } from './repository/packs.js';
import { parsePerson, PROGRAM, readPerson } from './repository/person.js';
import { gitFailed } from './repository/program.js';
import { stampsAt } from './changes/stamps-at.js';
import type { Stamps } from './changes/stamps.js';
import type { OpenTarget, Target } from './repository/target.js';
import type { Pace } from './changes/walk.js';

interface WriterOptions {
  root: string;
  target: Target;
  env: Env;
  clock: Clock;
  processes: Processes;
  /** `Name <mail>` for the program's commits. */
  author?: string;
}

/** `cheap`: looks at everything, except at ended work if that would take long. */
type Look = 'none' | 'cheap' | 'open' | 'whole';

export type Written =
  | { kind: 'nothing' }
  | { kind: 'committed'; id: string }
  /** Another process writes history; it finds this list. */
  | { kind: 'left'; file: string };

interface Writer {
  changing(file: string): void;
  changed(file: string): void;
  commit(message: Message | undefined, options?: { evenIfSame?: boolean; look?: Look }): Promise<Written>;
  /** Whether this process may write history now. */
  mayWrite(): boolean;
  /** Looks for lists of others and, at most once a minute, for people's changes. */
  tend(): Promise<void>;
  /** Gives up long work, because the process is about to end. */
  hurry(): void;
  close(): Promise<void>;
}

/** A process may spend 1/4000 of its time on looks, so it looks less often if a look takes long. */
const LOOK_SHARE = 4000;
/** At its end, a process may spend 1/500 of its lifetime looking at ended work. */
const LAST_LOOK_SHARE = 500;
const MS_PER_FILE = 0.005;
/** The time that an ending process may spend on ended work, and on an unfinished first commit. */
const CHEAP_WALK_MS = 20;
const CLOSE_MS = 250;
/** A first commit that takes longer than this is continued after the work that led to it. */
const BEGIN_MS = 100;
/** Git keeps its own packs from being merged until it ends. */
const COMMITS_PER_GIT = 50;
const MAX_TRIES = 5;

export function writer(options: WriterOptions): Writer {
  const { root, target, env, clock, processes, author } = options;
  const folder = path.join(root, '.guild', 'history');
  const lists = changeLists(root, processes);
  const lock = historyLock(folder, processes);
  const begins = beginning(root, folder);
  const deaths = killed(root, folder);
  const openedAt = clock.monotonicMs();
  let ready: Ready | undefined;
  let git: Importer | undefined;
  let person: Person | undefined;
  let closeBy = Infinity;
  let isUsed = false;
  let lastLook: number | undefined;
  let openLookGapMs: number = INTERVALS.peopleCheckMs;
  let nextWholeLook = openedAt + INTERVALS.peopleCheckMs;
  const pace = { isOver: () => clock.monotonicMs() > closeBy };

  return {
    changing: lists.changing,
    changed: lists.changed,
    commit,
    mayWrite() {
      makeFolder(folder);
      return lock.take();
    },
    async tend() {
      const now = clock.monotonicMs();
      const isLookDue = now - (lastLook ?? openedAt) >= openLookGapMs;
      if (!isLookDue && !lists.hasOthers()) return;
      const isWhole = now >= nextWholeLook;
      await commit(undefined, { look: !isLookDue ? 'none' : isWhole ? 'whole' : 'open' });
    },
    hurry() {
      closeBy = Math.min(closeBy, clock.monotonicMs() + CLOSE_MS);
    },
    async close() {
      try {
        const isLookDue = lastLook === undefined || clock.monotonicMs() - lastLook > INTERVALS.peopleCheckAgainMs;
        if (isUsed || lists.size() > 0) await commit(undefined, { look: isLookDue ? 'cheap' : 'none' });
      } finally {
        await stopGit(true);
        lists.close();
        lock.release();
      }
    },
  };

  async function commit(
    message: Message | undefined,
    // A person's edit comes before the work that it led to.
    {
      evenIfSame = false,
      look = lastLook === undefined ? 'cheap' : 'none',
    }: { evenIfSame?: boolean; look?: Look } = {},
  ): Promise<Written> {
    isUsed = true;
    if (!fs.existsSync(root)) return { kind: 'nothing' };
    makeFolder(folder);
    const own = lists.take();
    if (!lock.take()) {
      if (own.paths.size === 0 && !(message && evenIfSame)) {
        own.done();
        return { kind: 'nothing' };
      }
      const file = lists.leave(own.paths, message ?? naming('changed')([...own.paths]));
      own.done();
      return { kind: 'left', file };
    }
    for (let tries = 1; ; tries++) {
      try {
        return await commitAll(own, message, evenIfSame, look);
      } catch (error) {
        await stopGit();
        ready = undefined;
        if (tries < MAX_TRIES && (error instanceof BranchMoved || (await target.repair()))) continue;
        own.putBack();
        throw error instanceof BranchMoved ? gitFailed('another git process keeps moving the branch') : error;
      }
    }
  }

  async function commitAll(
    own: Batch,
    message: Message | undefined,
    evenIfSame: boolean,
    look: Look,
  ): Promise<Written> {
    const now = await prepare();
    const before = now.opened.tip;
    const { left, isOtherAlive } = lists.ofOthers();
    if (before === undefined) begins.start();
    const isBeginning = begins.isUnderWay();
    const putBeginning = (paths: Set<string>): Promise<unknown> =>
      write({ paths, message: begins.message(paths.size, target.note()) });
    const isOwn = (name: string): boolean => own.paths.has(name) || lists.has(name);
    if (isBeginning) {
      const soon = inTime(BEGIN_MS);
      await begins.openPlaces(now.stamps, isOwn, putBeginning, pace);
      if (before === undefined) await begins.timedPlaces(now.stamps, isOwn, putBeginning, soon);
    }
    const wasKilled = left.some((batch) => batch.message === undefined);
    if (wasKilled) deaths.note();
    for (const { paths, message: text, done } of left) {
      await write({
        paths,
        message: text ?? naming('left by a killed process:'),
        evenIfSame: text !== undefined,
      });
      done();
    }
    // The last list of a killed process may not be complete.
    const lookFor = wasKilled && look === 'none' ? 'cheap' : look;
    if (!isBeginning && lookFor !== 'none') await commitPeople(now, lookFor, own.paths, isOtherAlive);
    if (own.paths.size > 0 || (message !== undefined && evenIfSame))
      await write({
        paths: own.paths,
        message: message ?? naming('changed'),
        evenIfSame,
        late: lists.names,
      });
    own.done();
    if (begins.isUnderWay()) await begins.timedPlaces(now.stamps, isOwn, putBeginning, pace);
    const { tip } = now.opened;
    if ((git?.commits() ?? 0) >= COMMITS_PER_GIT) await stopGit(true);
    return tip === before || tip === undefined ? { kind: 'nothing' } : { kind: 'committed', id: tip };
  }

  /**
   * Commits people's changes under their name. Files of a killed process count as the program's.
   */
  async function commitPeople(now: Ready, look: Look, own: ReadonlySet<string>, isOtherAlive: boolean): Promise<void> {
    const from = clock.monotonicMs();
    const isWhole = look === 'whole' || (look === 'cheap' && isCheap(now.stamps));
    const { opened, stamps } = now;
    const { tip, run } = opened;
    if (tip === undefined) return;
    const idsOf = (names: readonly string[]) => now.git().idsIn(tip, names);
    const noted = { has: (name: string) => own.has(name) || lists.has(name), all: () => [...own, ...lists.names()] };
    const found = await changesByPeople({ root, stamps, tip, run, idsOf, noted, isOtherAlive, isWhole, pace });
    const isOurs = deaths.isVictims();
    const ours = new Set(found.filter(isOurs));
    const theirs = new Set(found.filter((name) => !isOurs(name)));
    if (ours.size > 0) await write({ paths: ours, message: naming('left by a killed process:') });
    if (theirs.size > 0)
      await write({
        paths: theirs,
        message: naming('by hand:'),
        author: (person ??= await readPerson(root, env)),
      });
    if (isWhole && !isOtherAlive && !pace.isOver()) deaths.forget();
    lastLook = clock.monotonicMs();
    const gapAfter = (ms: number): number => Math.max(INTERVALS.peopleCheckMs, LOOK_SHARE * ms);
    const ms = lastLook - from;
    if (isWhole) nextWholeLook = lastLook + gapAfter(ms);
    openLookGapMs = gapAfter(isWhole ? ms * openShare(stamps) : ms);
  }

  async function write(commit: Omit<NewCommit, 'author' | 'committer' | 'at'> & { author?: Person }): Promise<void> {
    if (!lock.isHeld()) throw gitFailed('another process took the lock of history');
    const program = parsePerson(author) ?? PROGRAM;
    await commitFiles(ready!, root, target, { author: program, ...commit, committer: program, at: clock.now() });
  }

  /** The repository may have been moved on by another process or, with a branch, by a person. */
  async function prepare(): Promise<Ready> {
    const opened = await target.open();
    if (ready !== undefined && ready.opened.tip === opened.tip && ready.opened.ref === opened.ref) return ready;
    await stopGit();
    const stamps = await stampsAt(path.join(folder, 'stamps'), opened);
    ready = { opened, stamps, git: () => startedGit(opened) };
    return ready;
  }

  function startedGit({ start, gitDir }: OpenTarget): Importer {
    if (git?.isAlive()) return git;
    if (target.isByTime) removeLeftovers(gitDir);
    git = importer(start);
    return git;
  }

  async function stopGit(isTidy = false): Promise<void> {
    const stopped = git;
    git = undefined;
    await stopped?.close();
    if (isTidy && stopped !== undefined && target.isByTime && ready !== undefined) mergePacks(ready.opened);
  }

  function inTime(ms: number): Pace {
    const until = clock.monotonicMs() + ms;
    return { isOver: () => pace.isOver() || clock.monotonicMs() > until };
  }

  /** The share of a full look that a look without ended work takes. */
  function openShare(stamps: Stamps): number {
    const plain = stamps.count('plain');
    return plain / Math.max(1, plain + stamps.count('timed'));
  }

  /** Whether looking at ended work takes little time compared with the age of this process. */
  function isCheap(stamps: Stamps): boolean {
    const lifeMs = clock.monotonicMs() - openedAt;
    return stamps.count('timed') * MS_PER_FILE < Math.max(CHEAP_WALK_MS, lifeMs / LAST_LOOK_SHARE);
  }
}

const NAMED = 3;
const LISTED = 50;

/** The message that names the files of a commit. */
function naming(what: string): (paths: readonly string[]) => Message {
  return (paths) => messageOf(paths, what);
}

function messageOf(paths: readonly string[], what: string): Message {
  const names = [...paths].sort();
  const tasks = [...new Set(names.flatMap((name) => taskOf(name) ?? []))].slice(0, LISTED);
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const rest = names.length > LISTED ? [`and ${names.length - LISTED} more`] : [];
  const body = [...names.slice(0, LISTED), ...rest, ...(tasks.length > 0 ? [`tasks: ${tasks.join(' ')}`] : [])];
  return { subject: `${what} ${names.slice(0, NAMED).join(', ')}${more}`, body: body.join('\n') };
}
