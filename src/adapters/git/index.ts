/**
 * The workspace's history in plain Git. Any number of processes may commit at once: each builds its
 * own tree, and only moving the branch from its parent commit is exclusive. A process that loses
 * builds its tree again. There is no lock of ours that a crash could leave behind.
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
import { privateGitFolder, runGit, type RunGit } from './program.js';
import { must, stage } from './stage.js';
import { restoreFiles, changedFiles } from './undo.js';

interface GitOptions {
  root: string;
  env: Record<string, string | undefined>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  /** `Name <mail>`. */
  author?: string;
  /** Runs git at lower priority. */
  background?: boolean;
  /** Where a file of an old commit is restored to. */
  nameAfterUndo?: (path: string) => string;
}

const TRIES = 40;

export function git(options: GitOptions): History {
  const { root, env, clock, author, background = false, nameAfterUndo = (name) => name } = options;
  const runOptions = { cwd: root, env, background };
  const cache = indexCache(root);
  let privateGitDir: string | undefined;
  let last: { commit: string; tree: string } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const serialize = <T>(work: () => Promise<T>): Promise<T> => {
    const current = queue.then(work, work);
    queue = current.catch(() => undefined);
    return current;
  };

  return {
    state() {
      const place = findPlace(root);
      return place.kind === 'off' ? { on: false, why: place.why } : { on: true };
    },
    commit: (subject, body, options = {}) => serialize(() => commit(subject, body, options.evenIfSame ?? false)),
    log: (options = {}) =>
      serialize(async () => {
        const repository = await openRepository();
        return repository?.head.commit === undefined
          ? []
          : readLog(repository.onFiles, repository.head.commit, options);
      }),
    changes: (to) =>
      serialize(async () => {
        const repository = await requireHistory();
        const index = await cache.take(repository.onFiles, repository.head.commit);
        try {
          return await changedFiles(repository, to, await stage(repository.onFiles, root, index));
        } finally {
          cache.drop(index);
        }
      }),
    undo: (to) => serialize(() => undo(to)),
    async close() {
      await queue;
      if (privateGitDir !== undefined) fs.rmSync(privateGitDir, { recursive: true, force: true });
      privateGitDir = undefined;
    },
  };

  async function commit(subject: string, body: string, evenIfSame: boolean): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const repository = await openRepository(true);
      if (repository === undefined) return false;
      const paused = whyPaused(repository.gitDir);
      if (paused) throw new ProblemError(paused);
      const index = await cache.take(repository.onFiles, repository.head.commit);
      try {
        const tree = await stage(repository.onFiles, root, index);
        if (!evenIfSame && tree === (await treeOf(repository))) return false;
        const id = await write(repository, tree, subject, body, index);
        if (id !== undefined) return true;
      } finally {
        cache.drop(index);
      }
      if (attempt === TRIES)
        throw new ProblemError(
          problem('tool_failed', `no commit was made in ${TRIES} attempts: other processes kept moving the branch`, {
            hint: 'work continues; the next commit contains everything',
          }),
        );
      await clock.sleep(Math.random() * Math.min(500, 10 * attempt));
    }
  }

  /** Returns the commit; undefined if another process moved the branch first. */
  async function write(
    repository: Repository,
    tree: string,
    subject: string,
    body: string,
    index: string,
  ): Promise<string | undefined> {
    const parent = repository.head.commit === undefined ? [] : ['-p', repository.head.commit];
    const input = `${subject}\n${body === '' ? '' : `\n${body}\n`}`;
    const result = await repository.onFiles(['commit-tree', tree, ...parent, '-F', '-'], { input, env: identity() });
    const id = must(result).out.trim();
    const before = repository.head.commit ?? '0'.repeat(id.length);
    const moved = await repository.onRefs(['update-ref', '-m', `guild: ${subject}`, 'HEAD', id, before]);
    if (moved.code !== 0) {
      if (!/cannot lock ref|File exists/.test(moved.err)) must(moved);
      removeStaleLock(moved.err);
      return undefined;
    }
    last = { commit: id, tree };
    await showIndex(
      index,
      repository.gitDir,
      () => readHead(repository.gitDir, repository.commonDir)?.commit === id,
    ).catch(() => undefined);
    cache.keep(index, id, repository.head.commit);
    await packIfMany(repository.onRefs, repository.commonDir).catch(() => undefined);
    return id;
  }

  async function undo(to: string): Promise<{ commit: string; files: string[] }> {
    await commit('before an undo', 'the workspace as it was', false);
    const repository = await requireHistory();
    const { commit: target, files } = await changedFiles(repository, to);
    const names = files.map((file) => file.path);
    if (names.length > 0) {
      const index = await cache.take(repository.onFiles, repository.head.commit);
      try {
        await restoreFiles(repository.onFiles, root, index, target.id, names, nameAfterUndo);
      } finally {
        cache.drop(index);
      }
    }
    const body = [
      `back to ${target.id}`,
      ...names.slice(0, 50),
      ...(names.length > 50 ? [`and ${names.length - 50} more`] : []),
    ];
    await commit(`undo: back to ${target.id.slice(0, 10)}, ${target.subject}`, body.join('\n'), true);
    return { commit: last!.commit, files: names };
  }

  async function requireHistory(): Promise<Repository & { head: Head & { commit: string } }> {
    const repository = await openRepository();
    if (repository?.head.commit !== undefined) return repository as Repository & { head: Head & { commit: string } };
    throw new ProblemError(problem('not_found', 'this workspace has no history yet'));
  }

  /** Undefined if history is off, or if there is no repository and `create` is false. */
  async function openRepository(create = false): Promise<Repository | undefined> {
    let place = findPlace(root);
    if (place.kind === 'none' && create) place = await createRepository(place);
    if (place.kind !== 'own') return undefined;
    const { gitDir, commonDir } = place;
    const onRefs = runGit(runOptions, { GIT_DIR: gitDir });
    const head = readHead(gitDir, commonDir) ?? (await askHead(onRefs, gitDir));
    privateGitDir ??= privateGitFolder(path.join(root, '.guild', 'git'), await formatOf(onRefs, head.commit), KEPT_OUT);
    const onFiles = runGit(runOptions, {
      GIT_DIR: privateGitDir,
      GIT_WORK_TREE: root,
      GIT_OBJECT_DIRECTORY: path.join(commonDir, 'objects'),
    });
    return { gitDir, commonDir, head, onFiles, onRefs };
  }

  /**
   * `git init` takes several steps, so the repository is created under another name and renamed:
   * another process must not see half of it. If several do this at once, the first one wins.
   */
  async function createRepository(place: Place & { kind: 'none' }): Promise<Place> {
    const under = path.join(root, '.guild', 'git');
    fs.mkdirSync(under, { recursive: true, mode: 0o700 });
    const folder = fs.mkdtempSync(path.join(under, `own-${process.pid}-`));
    const gitDir = path.join(folder, '.git');
    try {
      const onRefs = runGit({ ...runOptions, cwd: folder }, { GIT_DIR: gitDir });
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

  async function treeOf(repository: Repository): Promise<string | undefined> {
    const { commit: id } = repository.head;
    if (id === undefined) return undefined;
    if (last?.commit !== id) {
      const result = await repository.onFiles(['rev-parse', '--verify', '-q', `${id}^{tree}`]);
      last = { commit: id, tree: must(result).out.trim() };
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

interface Repository {
  gitDir: string;
  commonDir: string;
  head: Head;
  onFiles: RunGit;
  onRefs: RunGit;
}

/** For a head that is not in a plain file: packed, in another format, or without a commit yet. */
async function askHead(onRefs: RunGit, gitDir: string): Promise<Head> {
  const result = await onRefs(['rev-parse', '--verify', '-q', 'HEAD']);
  const commit = result.out.trim();
  const branch = branchOf(gitDir) ?? 'HEAD';
  if (isId(commit)) return { commit, branch };
  if (result.code !== 1) must(result); // 1: no commit yet; any other code is a broken repository
  return { branch };
}

async function formatOf(onRefs: RunGit, head: string | undefined): Promise<'sha1' | 'sha256'> {
  if (head !== undefined) return head.length === 64 ? 'sha256' : 'sha1';
  return (await onRefs(['rev-parse', '--show-object-format'])).out.trim() === 'sha256' ? 'sha256' : 'sha1';
}

/** Git holds a branch lock for less than a second; a lock older than a minute is stale. */
function removeStaleLock(stderr: string): void {
  const file = /Unable to create '([^']+\.lock)': File exists/.exec(stderr)?.[1];
  const stat = file && fs.lstatSync(file, { throwIfNoEntry: false });
  if (file && stat && Date.now() - stat.mtimeMs > 60_000) fs.rmSync(file, { force: true });
}
