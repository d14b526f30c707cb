/**
 * The workspace's history in Git, in a repository of its own under `.guild/`. A person's branch,
 * index, stash, hooks and settings are never touched, unless `branch` asks for commits on their
 * branch. Commits that earlier versions made on the branch stay readable.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import { defined } from '../../domain/defined.js';
import { problemError } from '../../domain/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { Commit, FileChange, History, OldContent } from '../../ports/history.js';
import type { Processes } from '../../ports/processes.js';
import { isCovered } from './changes/covered.js';
import { changesByPeople } from './changes/look.js';
import { readCommit, readLog } from './log.js';
import { parsePerson, PROGRAM } from './repository/person.js';
import { stampsAt } from './changes/stamps-at.js';
import { branchTarget, ownTarget, type OpenTarget } from './repository/target.js';
import {
  differences,
  filesAt,
  oldContents,
  resolveCommit,
  restoreFiles,
  unknownCommit,
  withTexts,
  type OldCommit,
  type OldFile,
} from './undo.js';
import { writer, type Written } from './writer.js';

interface GitOptions {
  root: string;
  env: Env;
  clock: Clock;
  processes: Processes;
  /** `Name <mail>` of the program's commits. */
  author?: string;
  /** Commits to the branch that is checked out in the workspace. */
  branch?: boolean;
  /** Runs git at lower priority. */
  background?: boolean;
  /** Where a file of an old commit is restored to. */
  nameAfterUndo?: (path: string) => string;
  /** Whether an undo may make this change; default: any. */
  mayUndo?: (change: FileChange) => boolean;
}

/** How long an undo waits for the process that writes history. */
const WAIT_MS = 30_000;

export function git(options: GitOptions): History {
  const { root, env, clock, processes, author, background = false, nameAfterUndo = (name) => name } = options;
  const { mayUndo = () => true } = options;
  const where = { root, env, background, now: () => clock.now() };
  const target = options.branch ? branchTarget(where) : ownTarget(where);
  const old = options.branch ? undefined : branchTarget(where);
  const writes = writer({ root, target, env, clock, processes, author: author || undefined });
  const { mail } = parsePerson(author) ?? PROGRAM;
  let queue: Promise<unknown> = Promise.resolve();
  const serialize = <T>(work: () => Promise<T>): Promise<T> => {
    const current = queue.then(work, work);
    queue = current.catch(() => undefined);
    return current;
  };

  return {
    state() {
      const why = target.whyOff();
      return why === undefined ? { on: true } : { on: false, why };
    },
    changing(file) {
      if (target.whyOff() === undefined) writes.changing(file);
    },
    changed(file) {
      if (target.whyOff() === undefined) writes.changed(file);
    },
    commit: (subject, body, { evenIfSame = false } = {}) =>
      serialize(async () => {
        if (target.whyOff() !== undefined) return false;
        return (await writes.commit({ subject, body }, { evenIfSame })).kind !== 'nothing';
      }),
    hurry: writes.hurry,
    tend: () => serialize(async () => (target.whyOff() === undefined ? writes.tend() : undefined)),
    log: (filter) => serialize(() => log(filter ?? {})),
    changes: (to, { texts = false } = {}) =>
      serialize(async () => {
        const { commit, files, left, old: from, wanted } = await planUndo(to);
        return { commit, files: texts ? await withTexts(from.run, root, wanted, files) : files, left };
      }),
    undo: (to, restore) => serialize(() => undo(to, restore ?? (async (files) => files))),
    close() {
      writes.hurry();
      return serialize(writes.close);
    },
  };

  async function log({ limit = 50, task }: { limit?: number; task?: string }): Promise<Commit[]> {
    const filter = defined({ mail, task });
    const now = await target.look();
    const commits = now?.tip === undefined ? [] : await readLog(now.run, now.tip, { ...filter, limit });
    const before = commits.length < limit ? await oldHistory() : undefined;
    if (before?.tip === undefined) return commits;
    const older = await readLog(before.run, before.tip, { ...filter, limit: limit - commits.length, onlyOwn: true });
    return [...commits, ...older];
  }

  /** The branch, on which earlier versions kept history. */
  async function oldHistory(): Promise<OpenTarget | undefined> {
    return old?.look().catch(() => undefined);
  }

  async function planUndo(to: string): Promise<UndoPlan> {
    const now = await target.look();
    const before = await oldHistory();
    if (now?.tip === undefined && before?.tip === undefined)
      throw problemError('not_found', 'this workspace has no history yet');
    const found = (await commitIn(now, to)) ?? (await commitIn(before, to));
    if (found === undefined) throw unknownCommit(to);
    const files = await filesAt(found);
    const known = now?.tip === undefined ? new Map<string, OldFile>() : await filesAt({ id: now.tip, run: now.run });
    const names = [...known.keys(), ...files.keys()].filter((name) => known.get(name)?.id !== files.get(name)?.id);
    const changes = differences(root, files, [...names, ...(await uncommitted(now))], (name) => known.has(name));
    const left = changes.filter((change) => !mayUndo(change));
    const commit = await readCommit(found.run, found.id, mail);
    return { commit, files: changes.filter(mayUndo), left, old: found, wanted: files };
  }

  /** Files that differ from the newest commit. */
  async function uncommitted(now: OpenTarget | undefined): Promise<string[]> {
    const opened = now ?? { gitDir: '', ref: '', tip: undefined, run: async () => NO_RESULT, start: noGit };
    const stamps = await stampsAt(path.join(root, '.guild', 'history', 'stamps'), opened);
    const { tip = '', run } = opened;
    const idsOf = async (names: readonly string[]): Promise<(string | undefined)[]> => {
      const { out } = await run(['cat-file', '--batch-check'], {
        input: names.map((name) => `${tip}:${name}\n`).join(''),
      });
      return out.split('\n').map((line) => /^([0-9a-f]+) blob /.exec(line)?.[1]);
    };
    const noted = { has: () => false, all: () => [] };
    return changesByPeople({
      root,
      stamps,
      tip,
      run,
      idsOf,
      noted,
      isOtherAlive: false,
      isWhole: true,
      pace: NO_HURRY,
    });
  }

  async function undo(
    to: string,
    restore: (files: OldContent[]) => Promise<OldContent[]>,
  ): Promise<{ commit: string; files: string[] }> {
    const { commit, files, old: from, wanted } = await planUndo(to);
    const names = files.map(({ path: name }) => name);
    const note = (changed: readonly string[]): void => {
      for (const name of changed) writes.changed(path.join(root, name));
    };
    // Another process that writes history does not look for changes at once, so it gets a list.
    note(writes.mayWrite() ? names.filter((name) => !isCovered(name)) : names);
    await landed(
      await writes.commit({ subject: 'before an undo', body: 'the workspace as it was' }, { look: 'whole' }),
    );
    restoreFiles(root, await restore(await oldContents(from.run, wanted, files)), nameAfterUndo);
    note([...names, ...names.map(nameAfterUndo)]);
    const more = names.length > 50 ? [`and ${names.length - 50} more`] : [];
    const body = [`back to ${commit.id}`, ...names.slice(0, 50), ...more].join('\n');
    const subject = `undo: back to ${commit.id.slice(0, 10)}, ${commit.subject}`;
    await landed(await writes.commit({ subject, body }, { evenIfSame: true }));
    return { commit: (await target.look())?.tip ?? '', files: names };
  }

  /** Waits until the list is committed by the process that writes. */
  async function landed(written: Written): Promise<void> {
    if (written.kind !== 'left') return;
    for (let waitedMs = 0; fs.existsSync(written.file); waitedMs += 100) {
      if (waitedMs > WAIT_MS)
        throw problemError('needs_human', 'the process that writes history here does not answer', {
          hint: 'stop guild watch, then try again',
        });
      await clock.sleep(100);
    }
  }
}

interface UndoPlan {
  commit: Commit;
  files: FileChange[];
  left: FileChange[];
  old: OldCommit;
  wanted: Map<string, OldFile>;
}

const NO_HURRY = { isOver: () => false };
const NO_RESULT = { code: 1, out: '', err: '', bytes: Buffer.alloc(0) };

function noGit(): never {
  throw new Error('there is no repository yet');
}

async function commitIn(target: OpenTarget | undefined, to: string): Promise<OldCommit | undefined> {
  if (target?.tip === undefined) return undefined;
  const id = await resolveCommit(target.run, to, target.tip);
  return id === undefined ? undefined : { id, run: target.run };
}
