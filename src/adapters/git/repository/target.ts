/**
 * Where commits go: to the program's own repository, or, with `git: {branch: true}`, to the branch
 * that is checked out in the workspace's own repository.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../../domain/config/env.js';
import { ProblemError } from '../../../domain/problem.js';
import { branchOf, findPlace, isId, readHead, readSmallFile, whyPaused } from './place.js';
import { must, runGit, startGit, type RunGit, type StartGit } from './program.js';
import { HISTORY_REF, hideFromGit, historyFolder, isReadable, makeRepository, readTip, setAside } from './own.js';

/** A repository that is ready for a commit. */
export interface OpenTarget {
  gitDir: string;
  ref: string;
  /** The newest commit; undefined before the first one. */
  tip: string | undefined;
  run: RunGit;
  start: StartGit;
}

export interface Target {
  /** Undefined if history is kept in this folder; otherwise a sentence that says why it is not. */
  whyOff(): string | undefined;
  /** Opens it for reading; undefined if there is nothing yet. */
  look(): Promise<OpenTarget | undefined>;
  /** Creates it if it is missing. Throws a ProblemError if it cannot take a commit now. */
  open(): Promise<OpenTarget>;
  /** After a failure: moves an unreadable repository away. True if that was the reason. */
  repair(): Promise<boolean>;
  /** The newest commit as its file says, without running git. */
  tipNow(ref: string): string | undefined;
  /** Keeps ended work in folders by time. */
  isByTime: boolean;
  /** A sentence for the next commit if an unreadable repository was moved away. */
  note(): string | undefined;
  /** Called after a commit, with the ids of its files; undefined: removed. */
  committed(target: OpenTarget, files: readonly CommittedFile[]): Promise<void>;
  /** Removes the paths that must not be committed. */
  wanted(target: OpenTarget, paths: readonly string[]): Promise<readonly string[]>;
}

export interface CommittedFile {
  path: string;
  mode: string;
  bytes: Uint8Array | undefined;
}

interface Where {
  root: string;
  env: Env;
  background: boolean;
  now(): Date;
}

/** Small packs instead of single files, and little time for compression: packs are merged later. */
const OWN_SETTINGS = ['fastimport.unpackLimit=0', 'core.compression=1'];

export function ownTarget({ root, env, background, now }: Where): Target {
  const gitDir = historyFolder(root);
  const where = { cwd: root, env, background };
  const run = runGit(where, { GIT_DIR: gitDir });
  const start = startGit(where, { GIT_DIR: gitDir }, OWN_SETTINGS);
  const at = (tip: string | undefined): OpenTarget => ({ gitDir, ref: HISTORY_REF, tip, run, start });
  let note: string | undefined;
  return {
    isByTime: true,
    whyOff: () => undefined,
    note() {
      const text = note;
      note = undefined;
      return text;
    },
    async look() {
      return fs.existsSync(path.join(gitDir, 'HEAD'))
        ? at(await readTip(gitDir, run).catch(() => undefined))
        : undefined;
    },
    async open() {
      makeRepository(gitDir);
      hideFromGit(root);
      return at(await readTip(gitDir, run));
    },
    async repair() {
      const why = await readTip(gitDir, run).then(
        async (tip) => (tip === undefined || (await isReadable(run, tip)) ? undefined : `${tip} cannot be read`),
        (error: unknown) => (error instanceof ProblemError ? undefined : (error as Error).message),
      );
      if (why === undefined) return false;
      note = `the earlier history could not be read and is in ${path.relative(root, setAside(gitDir, why, now()))}`;
      return true;
    },
    tipNow: () => readSmallFile(path.join(gitDir, HISTORY_REF))?.trim(),
    committed: async () => undefined,
    wanted: async (_, paths) => paths,
  };
}

/** Commits go on top of the person's; in their index, only the files we committed are updated. */
export function branchTarget({ root, env, background }: Where): Target {
  const where = { cwd: root, env, background };
  return {
    isByTime: false,
    note: () => undefined,
    repair: async () => false,
    whyOff() {
      const place = findPlace(root);
      return place.kind === 'off' ? place.why : undefined;
    },
    look: async () => (findPlace(root).kind === 'own' ? opened() : undefined),
    async open() {
      hideFromGit(root);
      const place = findPlace(root);
      if (place.kind === 'none') {
        const init = ['-c', 'init.defaultBranch=main', 'init', '-q', '--template='];
        must(await runGit(where, { GIT_DIR: place.gitDir })(init));
      } else if (place.kind === 'own') {
        const paused = whyPaused(place.gitDir);
        if (paused) throw new ProblemError(paused);
      }
      return opened();
    },
    tipNow() {
      const place = findPlace(root);
      return place.kind === 'off' ? undefined : readHead(place.gitDir, place.commonDir)?.commit;
    },
    async committed({ run, tip }, files) {
      const format = (tip?.length ?? 40) === 64 ? 'sha256' : 'sha1';
      const lines = files.map(({ path: name, mode, bytes }) =>
        bytes === undefined
          ? `0 ${'0'.repeat(format === 'sha256' ? 64 : 40)}\t${name}`
          : `${mode} ${blobId(bytes, format)}\t${name}`,
      );
      // If another git holds the index, the person sees our files as changed until the next commit.
      await run(['update-index', '-z', '--index-info'], { input: lines.map((line) => `${line}\0`).join('') });
    },
    async wanted({ run }, paths) {
      if (paths.length === 0) return paths;
      const input = paths.map((name) => `${name}\0`).join('');
      const { out } = await run(['check-ignore', '-z', '--stdin', '--no-index'], {
        input,
        env: { GIT_WORK_TREE: root },
      });
      const ignored = new Set(out.split('\0'));
      return paths.filter((name) => !ignored.has(name));
    },
  };

  async function opened(): Promise<OpenTarget> {
    const place = findPlace(root);
    if (place.kind === 'off') throw new Error(place.why);
    const { gitDir, commonDir } = place;
    const run = runGit(where, { GIT_DIR: gitDir });
    const head = readHead(gitDir, commonDir);
    const tip = head?.commit ?? (await askTip(run));
    const start = startGit(where, { GIT_DIR: gitDir }, []);
    return { gitDir, ref: branchOf(gitDir) ?? 'HEAD', tip, run, start };
  }
}

/** For a head that is not in a plain file: packed, in another format, or without a commit yet. */
async function askTip(run: RunGit): Promise<string | undefined> {
  const result = await run(['rev-parse', '--verify', '-q', 'HEAD']);
  if (isId(result.out.trim())) return result.out.trim();
  if (result.code !== 1) must(result); // 1: no commit yet; any other code is a broken repository
  return undefined;
}

/** The id that git gives to this content. */
export function blobId(bytes: Uint8Array, format: 'sha1' | 'sha256' = 'sha1'): string {
  return createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
