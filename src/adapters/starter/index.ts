/**
 * Copies a starter into a folder. Existing files are kept, so it is safe to run again. In a Git
 * repository nothing is committed, staged or ignored, unless the person asks for the ignore lines.
 */
import { packageFolder } from './package-folder.js';
import fs from 'node:fs';
import path from 'node:path';
import { problemError } from '../../domain/problem.js';
import { TASK_STATES } from '../../domain/task/task.js';

/** The examples that ship with the program. */
export function exampleNames(): string[] {
  const folder = packageFolder('examples');
  return fs
    .readdirSync(folder)
    .filter((name) => fs.existsSync(path.join(folder, name, 'guild.yaml')))
    .sort();
}

interface Wanted {
  /** Peers that bid for tasks, instead of an office with an orchestrator. */
  swarm?: boolean;
  example?: string | undefined;
  ignore?: boolean;
}

export function initWorkspace(folder: string, { swarm = false, example, ignore = false }: Wanted = {}): Initialized {
  const created: string[] = [];
  const kept: string[] = [];
  const isInRepository = repositoryAround(folder);
  const hadSettings = ACTING.some((file) => fs.existsSync(path.join(folder, file)));
  for (const [from, file] of example === undefined ? starterFiles(swarm) : exampleFiles(example)) {
    if (file === 'gitignore' && isInRepository) continue;
    // npm leaves files named .gitignore out of packages, so it is shipped under another name.
    const name = file === 'gitignore' ? '.gitignore' : file;
    const target = path.join(folder, name);
    makeFolder(folder, path.dirname(name));
    try {
      fs.copyFileSync(path.join(from, file), target, fs.constants.COPYFILE_EXCL);
      fs.chmodSync(target, 0o600 | (fs.statSync(target).mode & 0o100));
      created.push(name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      kept.push(name);
    }
  }
  const shared = example === undefined ? ['context'] : [];
  for (const made of [...shared, ...TASK_STATES.map((state) => `tasks/${state}`)]) makeFolder(folder, made);
  hidePrivateFolder(folder);
  keepOthersOut(folder);
  const missing = isInRepository ? missingLines(folder) : [];
  if (!ignore || missing.length === 0) return { created, kept, hadSettings, toIgnore: missing };
  refuseLink(folder, '.gitignore');
  const file = path.join(folder, '.gitignore');
  const text = readText(file);
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  fs.writeFileSync(file, `${text}${gap}# run state of Guildhall\n${missing.join('\n')}\n`);
  return { created: text === '' ? [...created, '.gitignore'] : created, kept, hadSettings, toIgnore: [] };
}

interface Initialized {
  created: string[];
  kept: string[];
  /** Something that can act was here before, so this program did not make everything. */
  hadSettings: boolean;
  /** Lines that keep run state out of the repository that the folder is in. */
  toIgnore: string[];
}

/** Everything in a folder that can act, once it is trusted. */
const ACTING = ['guild.yaml', '.mcp.json', 'storage/terminal-cmd-allowlist.yaml', 'storage/policy.yaml', 'plugins'];

/** A link in a folder that came from elsewhere would lead the files out of it. */
function makeFolder(root: string, folder: string): void {
  const parts = folder.split(/[\\/]/);
  for (const [n] of parts.entries()) refuseLink(root, parts.slice(0, n + 1).join('/'));
  fs.mkdirSync(path.join(root, folder), { recursive: true, mode: 0o700 });
}

function refuseLink(root: string, file: string): void {
  if (fs.lstatSync(path.join(root, file), { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw problemError('not_allowed', `${file} is a link, so files would be written elsewhere`, {
    where: { file },
    hint: 'replace it with a real folder or file, or choose another folder',
  });
}

/** Files that a process writes while it works, and files that only this machine needs. */
export const RUN_STATE: readonly string[] = [
  '.guild/',
  'agents/live/',
  'agents/registry.json',
  'workspaces/',
  'scratch/',
  'tasks/*/',
  'tasks/approvals.task.md',
  'sessions/',
  'results/',
  'events/',
  'bus/',
  'inbox/',
  'quarantine/',
  'storage/blobs/',
  'storage/paused/',
  'storage/planner-checkin.yaml',
  '.env*',
  'secrets/',
];

function missingLines(folder: string): string[] {
  const present = new Set(readText(path.join(folder, '.gitignore')).split(/\r?\n/));
  return RUN_STATE.filter((line) => !present.has(line) && !present.has(`/${line}`));
}

function repositoryAround(folder: string): boolean {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, '.git'))) return true;
    if (path.dirname(at) === at) return false;
  }
}

/** `.guild/` ignores itself, whatever a person's `.gitignore` says. */
function hidePrivateFolder(folder: string): void {
  const file = path.join(folder, '.guild', '.gitignore');
  makeFolder(folder, '.guild');
  refuseLink(folder, '.guild/.gitignore');
  if (!fs.existsSync(file)) fs.writeFileSync(file, '*\n', { mode: 0o600 });
}

/** A folder that was there before may let others write; the rules of a workspace must not. */
function keepOthersOut(folder: string): void {
  const { mode } = fs.statSync(folder);
  if ((mode & 0o022) !== 0) fs.chmodSync(folder, mode & ~0o022);
}

function readText(file: string): string {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

function exampleFiles(name: string): [string, string][] {
  const from = packageFolder('examples', name);
  return filesUnder(from).map((file) => [from, file]);
}

/** The swarm starter uses the `.gitignore` and the `memory/` of the standard starter. */
function starterFiles(swarm: boolean): [string, string][] {
  const office = packageFolder('starter');
  const own = packageFolder('starter-swarm');
  const files = filesUnder(office).map((file): [string, string] => [office, file]);
  if (!swarm) return files;
  const shared = files.filter(([, file]) => file === 'gitignore' || file.startsWith('memory'));
  return [...shared, ...filesUnder(own).map((file): [string, string] => [own, file])];
}

function filesUnder(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
