/**
 * The history of an agent's folder: a Git repository in which every command that changed something is a commit. It is the agent's
 * own to read and to commit to, but its settings are ours, because Git runs programs that settings name: they are put
 * back before we call Git, and Git itself is as confined as the command was.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Rollback, ShellTrace } from '../../ports/shell.js';
import { isRealFolder, PATH, type Confine, type Ground } from './confine.js';

const GIT_MS = 60_000;
const MAX_MESSAGE = 8000;
const SAFE = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.untrackedCache=false',
  'commit.gpgsign=false',
  'safe.bareRepository=explicit',
  'safe.directory=*',
  'diff.ignoreSubmodules=all',
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
  'advice.addEmbeddedRepo=false',
].flatMap((setting) => ['-c', setting]);

interface AgentGit {
  /** Makes the repository if it is missing, and its settings ours. Text: what was put right, or why there is no history. */
  prepare(ground: Ground): Promise<string | undefined>;
  /** Commits whatever changed; the commit that now stands for the folder. Never rejects. */
  commit(ground: Ground, message: string): Promise<ShellTrace>;
  rollback(ground: Ground, commit: string): Promise<Rollback>;
}

export function agentGit(confine: Confine): AgentGit {
  return {
    async prepare(ground) {
      try {
        return await prepare(ground);
      } catch (error) {
        return `its folder has no history: ${(error as Error).message}`;
      }
    },
    async commit(ground, message) {
      try {
        const mended = mend(ground);
        const commit = await commitAll(ground, message);
        return mended === undefined ? { commit } : { commit, note: mended };
      } catch (error) {
        return { note: `what it changed was not committed: ${(error as Error).message}` };
      }
    },
    async rollback(ground, commit) {
      if (!/^[0-9a-f]{7,64}$/.test(commit)) return { ok: false, reason: `${JSON.stringify(commit)} is no commit id` };
      try {
        return await rollback(ground, commit);
      } catch (error) {
        return { ok: false, reason: (error as Error).message };
      }
    },
  };

  async function prepare(ground: Ground): Promise<string | undefined> {
    const dir = path.join(ground.home, '.git');
    if (isRealFolder(dir) && fs.existsSync(path.join(dir, 'HEAD'))) return mend(ground);
    const isForeign = fs.lstatSync(dir, { throwIfNoEntry: false }) !== undefined;
    if (isForeign) fs.renameSync(dir, path.join(ground.home, `.git-set-aside-${process.pid}-${Date.now()}`));
    await git(ground, ['init', '-q', '--template=', '--initial-branch=main']);
    mend(ground);
    await git(ground, ['add', '-A']);
    await git(ground, ['commit', '-q', '--allow-empty', '--no-verify', '-m', `The folder of ${ground.agent}`]);
    return isForeign ? 'its Git repository was damaged: it was set aside and a new one begun' : undefined;
  }

  async function commitAll(ground: Ground, message: string): Promise<string> {
    const status = await git(ground, ['status', '--porcelain=v2', '--branch', '-z', '--ignore-submodules=all']);
    const lines = status.split('\0').filter((line) => line !== '');
    const head = lines.find((line) => line.startsWith('# branch.oid '))?.slice('# branch.oid '.length);
    const isClean = lines.every((line) => line.startsWith('# '));
    if (isClean && head !== undefined && head !== '(initial)') return head;
    const text = message.slice(0, MAX_MESSAGE);
    await git(ground, ['add', '-A']);
    await git(ground, ['commit', '-q', '--allow-empty', '--no-verify', '--cleanup=verbatim', '-m', text]);
    return (await git(ground, ['rev-parse', '--verify', 'HEAD'])).trim();
  }

  async function rollback(ground: Ground, commit: string): Promise<Rollback> {
    mend(ground);
    await commitAll(ground, 'Before going back: what was not committed');
    const to = (await git(ground, ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`])).trim();
    const files = await git(ground, ['diff', '--name-only', '--no-renames', '-z', '--no-ext-diff', 'HEAD', to]);
    await git(ground, ['read-tree', '--reset', '-u', to]);
    await git(ground, ['commit', '-q', '--allow-empty', '--no-verify', '-m', `Back to ${to}`]);
    const now = (await git(ground, ['rev-parse', '--verify', 'HEAD'])).trim();
    return { ok: true, commit: now, files: files.split('\0').filter((file) => file !== '') };
  }

  function git(ground: Ground, args: string[]): Promise<string> {
    const [file, ...rest] = confine(['git', '--no-pager', ...SAFE, ...identity(ground.agent), ...args], ground, false);
    const dir = path.join(ground.home, '.git');
    const env = {
      PATH,
      HOME: '/nonexistent',
      LANG: 'C.UTF-8',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_DIR: dir,
      GIT_WORK_TREE: ground.home,
    };
    const limits = { cwd: ground.home, env, timeout: GIT_MS, killSignal: 'SIGKILL' as const, maxBuffer: 1 << 26 };
    return new Promise((resolve, reject) => {
      const child = execFile(file!, rest, limits, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(
          new Error(
            `git ${args[0]}: ${firstLine(stderr) || (error.killed ? 'it took too long' : firstLine(error.message))}`,
          ),
        );
      });
      child.stdin?.end();
    });
  }
}

function identity(agent: string): string[] {
  return ['-c', `user.name=${agent}`, '-c', `user.email=${agent}@guildhall.invalid`];
}

/** Puts back what decides which programs Git runs, and takes away what a killed Git left. */
function mend({ home, agent }: Ground): string | undefined {
  const dir = path.join(home, '.git');
  if (!isRealFolder(dir)) throw new Error('.git is no folder any more');
  fs.rmSync(path.join(dir, 'index.lock'), { force: true });
  const config = path.join(dir, 'config');
  const wanted = configOf(agent);
  const isOurs = isPlainFile(config) && fs.readFileSync(config, 'utf8') === wanted;
  const isNew = !fs.existsSync(path.join(dir, 'hooks')) && !fs.existsSync(path.join(dir, 'index'));
  if (!isOurs) replace(config, wanted);
  const strays = ['commondir', 'config.worktree', 'info/attributes'].map((name) => path.join(dir, name)).filter(exists);
  const hooks = path.join(dir, 'hooks');
  if (exists(hooks) && (!isRealFolder(hooks) || fs.readdirSync(hooks).length > 0)) strays.push(hooks);
  for (const stray of strays) fs.rmSync(stray, { recursive: true, force: true });
  fs.mkdirSync(hooks, { recursive: true });
  const isChanged = (!isOurs && !isNew) || strays.length > 0;
  return isChanged ? 'the settings of its Git repository had been changed and were put back' : undefined;
}

/** Filters, hooks and monitors are programs: there are none in here. */
function configOf(agent: string): string {
  return `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\thooksPath = /dev/null
\tfsmonitor = false
[commit]
\tgpgsign = false
[user]
\tname = ${agent}
\temail = ${agent}@guildhall.invalid
`;
}

function isPlainFile(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** By rename, so that a link in its place is replaced and not followed. */
function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.writeFileSync(fresh, text, { flag: 'wx', mode: 0o644 });
  if (isRealFolder(file)) fs.rmSync(file, { recursive: true, force: true });
  fs.renameSync(fresh, file);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.slice(0, 300);
}
