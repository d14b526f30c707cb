/**
 * History in plain git. Any number of processes may commit at once: each makes its tree apart from the others, and moving the
 * branch from the commit it was made on is the only step that counts. Who comes second makes its tree again on top. So there is one
 * line of history, no lock of ours, and nothing that a crash could leave locked.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { History } from '../../ports/history.js';
import { indexCache, showIndex } from './index-cache.js';
import { KEPT_OUT } from './kept-out.js';
import { readLog } from './log.js';
import { packIfMany } from './pack.js';
import { branchOf, findPlace, isId, readHead, whyPaused, type Head, type Place } from './place.js';
import { ownGitFolder, runGit, type RunGit } from './program.js';
import { must, stage } from './stage.js';
import { bringBack, changedFiles } from './undo.js';

interface GitOptions {
  root: string;
  env: Record<string, string | undefined>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  /** `Name <mail>`. */
  author?: string;
  /** Gives way to other work on a busy machine. */
  background?: boolean;
  /** What a file of an old commit is called when it comes back. */
  nameAfterUndo?: (path: string) => string;
}

const TRIES = 40;

export function git(options: GitOptions): History {
  const { root, env, clock, author, background = false, nameAfterUndo = (name) => name } = options;
  const where = { cwd: root, env, background };
  const cache = indexCache(root);
  let own: string | undefined;
  let last: { commit: string; tree: string } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = queue.then(work, work);
    queue = mine.catch(() => undefined);
    return mine;
  };

  return {
    state() {
      const place = findPlace(root);
      return place.kind === 'off' ? { on: false, why: place.why } : { on: true };
    },
    commit: (subject, body, options = {}) => inTurn(() => commit(subject, body, options.evenIfSame ?? false)),
    log: (options = {}) =>
      inTurn(async () => {
        const at = await look();
        return at?.head.commit === undefined ? [] : readLog(at.onFiles, at.head.commit, options);
      }),
    changes: (to) =>
      inTurn(async () => {
        const at = await needed();
        const index = await cache.take(at.onFiles, at.head.commit);
        try {
          return await changedFiles(at, to, await stage(at.onFiles, root, index));
        } finally {
          cache.drop(index);
        }
      }),
    undo: (to) => inTurn(() => undo(to)),
    async close() {
      await queue;
      if (own !== undefined) fs.rmSync(own, { recursive: true, force: true });
      own = undefined;
    },
  };

  async function commit(subject: string, body: string, evenIfSame: boolean): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const at = await look(true);
      if (at === undefined) return false;
      const paused = whyPaused(at.gitDir);
      if (paused) throw new ProblemError(paused);
      const index = await cache.take(at.onFiles, at.head.commit);
      try {
        const tree = await stage(at.onFiles, root, index);
        if (!evenIfSame && tree === (await treeOf(at))) return false;
        const id = await write(at, tree, subject, body, index);
        if (id !== undefined) return true;
      } finally {
        cache.drop(index);
      }
      if (attempt === TRIES)
        throw new ProblemError(
          problem('tool_failed', 'history could not be written: other processes were always faster'),
        );
      await clock.sleep(Math.random() * Math.min(500, 10 * attempt));
    }
  }

  /** Undefined: the branch has moved meanwhile. */
  async function write(
    at: At,
    tree: string,
    subject: string,
    body: string,
    index: string,
  ): Promise<string | undefined> {
    const parent = at.head.commit === undefined ? [] : ['-p', at.head.commit];
    const input = `${subject}\n${body === '' ? '' : `\n${body}\n`}`;
    const made = await at.onFiles(['commit-tree', tree, ...parent, '-F', '-'], { input, env: identity() });
    const id = must(made).out.trim();
    const before = at.head.commit ?? '0'.repeat(id.length);
    const moved = await at.onRefs(['update-ref', '-m', `guild: ${subject}`, 'HEAD', id, before]);
    if (moved.code !== 0) {
      if (!/cannot lock ref|File exists/.test(moved.err)) must(moved);
      removeDeadLock(moved.err);
      return undefined;
    }
    last = { commit: id, tree };
    await showIndex(index, at.gitDir, () => readHead(at.gitDir, at.commonDir)?.commit === id).catch(() => undefined);
    cache.keep(index, id, at.head.commit);
    await packIfMany(at.onRefs, at.commonDir).catch(() => undefined);
    return id;
  }

  async function undo(to: string): Promise<{ commit: string; files: string[] }> {
    await commit('before an undo', 'what lay in the workspace', false);
    const at = await needed();
    const { commit: back, files } = await changedFiles(at, to);
    const names = files.map((one) => one.path);
    if (names.length > 0) {
      const index = await cache.take(at.onFiles, at.head.commit);
      try {
        await bringBack(at.onFiles, root, index, back.id, names, nameAfterUndo);
      } finally {
        cache.drop(index);
      }
    }
    const body = [
      `back to ${back.id}`,
      ...names.slice(0, 50),
      ...(names.length > 50 ? [`and ${names.length - 50} more`] : []),
    ];
    await commit(`undo: back to ${back.id.slice(0, 10)}, ${back.subject}`, body.join('\n'), true);
    return { commit: last!.commit, files: names };
  }

  async function needed(): Promise<At & { head: Head & { commit: string } }> {
    const at = await look();
    if (at?.head.commit !== undefined) return at as At & { head: Head & { commit: string } };
    throw new ProblemError(problem('not_found', 'this workspace has no history yet'));
  }

  /** The repository as it is now; undefined if history is off, or there is none and none is to be made. */
  async function look(make = false): Promise<At | undefined> {
    let place = findPlace(root);
    if (place.kind === 'none' && make) place = await createRepository(place);
    if (place.kind !== 'own') return undefined;
    const { gitDir, commonDir } = place;
    const onRefs = runGit(where, { GIT_DIR: gitDir });
    const head = readHead(gitDir, commonDir) ?? (await askHead(onRefs, gitDir));
    own ??= ownGitFolder(path.join(root, '.guild', 'git'), await formatOf(onRefs, head.commit), KEPT_OUT);
    const onFiles = runGit(where, {
      GIT_DIR: own,
      GIT_WORK_TREE: root,
      GIT_OBJECT_DIRECTORY: path.join(commonDir, 'objects'),
    });
    return { gitDir, commonDir, head, onFiles, onRefs };
  }

  /**
   * `git init` takes several steps, and another process must not meet a repository that is half there: it is created under
   * another name and renamed. Of several processes that do so at once, the first wins.
   */
  async function createRepository(place: Place & { kind: 'none' }): Promise<Place> {
    const under = path.join(root, '.guild', 'git');
    fs.mkdirSync(under, { recursive: true, mode: 0o700 });
    const folder = fs.mkdtempSync(path.join(under, `own-${process.pid}-`));
    const gitDir = path.join(folder, '.git');
    try {
      const onRefs = runGit({ ...where, cwd: folder }, { GIT_DIR: gitDir });
      must(await onRefs(['-c', 'init.defaultBranch=main', 'init', '-q', '--template=']));
      fs.mkdirSync(path.join(gitDir, 'info'), { recursive: true });
      const exclude = `# not part of the workspace's history\n${KEPT_OUT.join('\n')}\n`;
      fs.writeFileSync(path.join(gitDir, 'info', 'exclude'), exclude);
      fs.renameSync(gitDir, place.gitDir);
    } catch (error) {
      if (findPlace(root).kind !== 'own') throw error;
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
    return { ...place, kind: 'own' };
  }

  async function treeOf(at: At): Promise<string | undefined> {
    const { commit: id } = at.head;
    if (id === undefined) return undefined;
    if (last?.commit !== id) {
      const asked = await at.onFiles(['rev-parse', '--verify', '-q', `${id}^{tree}`]);
      last = { commit: id, tree: must(asked).out.trim() };
    }
    return last.tree;
  }

  function identity(): Record<string, string> {
    const [, name = 'guild', mail = 'guild@localhost'] = /^\s*([^<>\n]+?)\s*<([^<>\s]+)>\s*$/.exec(author ?? '') ?? [];
    const date = `${Math.floor(clock.now().getTime() / 1000)} +0000`;
    return {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: mail,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: mail,
      GIT_COMMITTER_DATE: date,
    };
  }
}

interface At {
  gitDir: string;
  commonDir: string;
  head: Head;
  onFiles: RunGit;
  onRefs: RunGit;
}

/** For heads that do not lie in a plain file: packed, in another format, or not there yet. */
async function askHead(onRefs: RunGit, gitDir: string): Promise<Head> {
  const asked = await onRefs(['rev-parse', '--verify', '-q', 'HEAD']);
  const commit = asked.out.trim();
  const branch = branchOf(gitDir) ?? 'HEAD';
  if (isId(commit)) return { commit, branch };
  if (asked.code !== 1) must(asked); // 1: no commit yet; anything else is a repository that cannot be read
  return { branch };
}

async function formatOf(onRefs: RunGit, head: string | undefined): Promise<'sha1' | 'sha256'> {
  if (head !== undefined) return head.length === 64 ? 'sha256' : 'sha1';
  return (await onRefs(['rev-parse', '--show-object-format'])).out.trim() === 'sha256' ? 'sha256' : 'sha1';
}

/** Git holds the lock of a branch for less than a second. One that is a minute old was left by a git that was killed. */
function removeDeadLock(said: string): void {
  const file = /Unable to create '([^']+\.lock)': File exists/.exec(said)?.[1];
  const stat = file && fs.lstatSync(file, { throwIfNoEntry: false });
  if (file && stat && Date.now() - stat.mtimeMs > 60_000) fs.rmSync(file, { force: true });
}
