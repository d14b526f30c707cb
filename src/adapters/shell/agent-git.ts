/**
 * The history of an agent's folder: a Git repository with a commit for every command that changed
 * something. The agent may read it and commit to it. Its settings are ours, because they can make
 * Git run programs: they are restored before each Git call, and Git runs confined like the command.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Rollback, ShellTrace } from '../../ports/shell.js';
import { isRealFolder, type AgentFolder } from './bubblewrap.js';
import type { Confinement } from './confine.js';
import { GIT_ENV, PATH, SAFE_GIT } from './environment.js';

const GIT_MS = 60_000;
const MAX_MESSAGE = 8000;
interface AgentGit {
  /**
   * Creates or repairs the repository. Returns a note if it repaired something or there is no
   * history.
   */
  prepare(folder: AgentFolder): Promise<string | undefined>;
  /** Commits all changes and returns the folder's current commit. Never rejects. */
  commit(folder: AgentFolder, message: string): Promise<ShellTrace>;
  rollback(folder: AgentFolder, commit: string): Promise<Rollback>;
}

export function agentGit(confinement: Confinement): AgentGit {
  return {
    async prepare(folder) {
      try {
        return await prepare(folder);
      } catch (error) {
        return `the folder has no history: ${(error as Error).message}`;
      }
    },
    async commit(folder, message) {
      try {
        const repair = restoreSettings(folder);
        const commit = await commitAll(folder, message);
        return repair === undefined ? { commit } : { commit, note: repair };
      } catch (error) {
        return { note: `its changes were not committed: ${(error as Error).message}` };
      }
    },
    async rollback(folder, commit) {
      if (!/^[0-9a-f]{7,64}$/.test(commit))
        return { ok: false, reason: `${JSON.stringify(commit)} is not a commit id` };
      try {
        return await rollback(folder, commit);
      } catch (error) {
        return { ok: false, reason: (error as Error).message };
      }
    },
  };

  async function prepare(folder: AgentFolder): Promise<string | undefined> {
    const dir = path.join(folder.home, '.git');
    if (isRealFolder(dir) && fs.existsSync(path.join(dir, 'HEAD'))) return restoreSettings(folder);
    const isForeign = fs.lstatSync(dir, { throwIfNoEntry: false }) !== undefined;
    if (isForeign) fs.renameSync(dir, path.join(folder.home, `.git-set-aside-${process.pid}-${Date.now()}`));
    await git(folder, ['init', '-q', '--template=', '--initial-branch=main']);
    restoreSettings(folder);
    await git(folder, ['add', '-A']);
    await git(folder, ['commit', '-q', '--allow-empty', '--no-verify', '-m', `The folder of ${folder.agent}`]);
    return isForeign ? 'its Git repository was damaged, so it was renamed and a new one was created' : undefined;
  }

  async function commitAll(folder: AgentFolder, message: string): Promise<string> {
    const status = await git(folder, ['status', '--porcelain=v2', '--branch', '-z', '--ignore-submodules=all']);
    const lines = status.split('\0').filter((line) => line !== '');
    const head = lines.find((line) => line.startsWith('# branch.oid '))?.slice('# branch.oid '.length);
    const isClean = lines.every((line) => line.startsWith('# '));
    if (isClean && head !== undefined && head !== '(initial)') return head;
    const text = message.slice(0, MAX_MESSAGE);
    await git(folder, ['add', '-A']);
    await git(folder, ['commit', '-q', '--allow-empty', '--no-verify', '--cleanup=verbatim', '-m', text]);
    return (await git(folder, ['rev-parse', '--verify', 'HEAD'])).trim();
  }

  async function rollback(folder: AgentFolder, commit: string): Promise<Rollback> {
    restoreSettings(folder);
    await commitAll(folder, 'Uncommitted changes before a rollback');
    const to = (await git(folder, ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`])).trim();
    const files = await git(folder, ['diff', '--name-only', '--no-renames', '-z', '--no-ext-diff', 'HEAD', to]);
    await git(folder, ['read-tree', '--reset', '-u', to]);
    await git(folder, ['commit', '-q', '--allow-empty', '--no-verify', '-m', `Back to ${to}`]);
    const now = (await git(folder, ['rev-parse', '--verify', 'HEAD'])).trim();
    return { ok: true, commit: now, files: files.split('\0').filter((file) => file !== '') };
  }

  function git(folder: AgentFolder, args: string[]): Promise<string> {
    const words = ['git', '--no-pager', ...SAFE_GIT, ...identity(folder.agent), ...args];
    const [file, ...rest] = [...confinement.prefix(folder, { writes: 'own' }, 'program'), ...words];
    const dir = path.join(folder.home, '.git');
    const env = {
      PATH,
      HOME: '/nonexistent',
      LANG: 'C.UTF-8',
      ...GIT_ENV,
      GIT_DIR: dir,
      GIT_WORK_TREE: folder.home,
    };
    const limits = { cwd: folder.home, env, timeout: GIT_MS, killSignal: 'SIGKILL' as const, maxBuffer: 1 << 26 };
    return new Promise((resolve, reject) => {
      const child = execFile(file!, rest, limits, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(
          new Error(`git ${args[0]}: ${firstLine(stderr) || (error.killed ? 'timed out' : firstLine(error.message))}`),
        );
      });
      child.stdin?.end();
    });
  }
}

function identity(agent: string): string[] {
  return ['-c', `user.name=${agent}`, '-c', `user.email=${agent}@guildhall.invalid`];
}

/** Restores the settings that decide which programs Git runs, and removes a stale lock. */
function restoreSettings({ home, agent }: AgentFolder): string | undefined {
  const dir = path.join(home, '.git');
  if (!isRealFolder(dir)) throw new Error('.git is no longer a folder');
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
  return isChanged ? 'the settings of its Git repository had been changed and were restored' : undefined;
}

/** Contains no filters, hooks or monitors, because those are programs. */
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

/** Replaces the file by rename, so that a link in its place is not followed. */
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
