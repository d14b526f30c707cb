/**
 * The part of a workspace that a sandboxed command may see, and the part that it may never write.
 * Secrets are covered wherever they are. A folder with too many entries to check is left out.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { PROTECTED } from '../../rules/policy/paths.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';

export interface Visibility {
  /** Top-level entries that the command may see. */
  shown: { path: string; link?: string }[];
  /** Entries to cover: secrets, private folders, and folders with too many entries. */
  covered: { path: string; isFolder: boolean }[];
  /** Repositories below the top level. Their settings and hooks name programs. */
  repositories: string[];
}

/** Never visible: private to the program, or other agents' conversations. */
const PRIVATE = new Set(['.guild', '.git', 'sessions', 'quarantine']);
/**
 * Written by the program, and possibly very large. They are shown even if they have too many
 * entries to check.
 */
const OURS = new Set(['tasks', 'events', 'bus', 'results', 'storage']);
/** Written by package managers: not searched for secrets. */
const PACKAGES = new Set(['node_modules', '.venv', 'venv', '__pycache__']);

/** Top-level names that no command may write, approved or not. */
export const READ_ONLY: readonly string[] = [
  ...PROTECTED.keys(),
  ...['.mcp.json', '.agents', '.opencode', '.gemini', '.github', '.vscode', '.envrc'],
];
/** The standard folders in this list are created if missing, so that they can be protected. */
export const MADE_FOLDERS: readonly string[] = ['agents', 'plugins', 'storage', 'tasks', 'inbox', 'events', 'bus'];

/** The agent sees all of `ownFolders`. A folder with more than `maxEntries` is not checked. */
export function visibleFiles(root: string, ownFolders: readonly string[], maxEntries: number): Visibility {
  const visibility: Visibility = { shown: [], covered: [], repositories: [] };
  const twins = new Set<string>();
  for (const entry of fs.readdirSync(root, { withFileTypes: true })) {
    const name = entry.name.toLowerCase();
    const file = path.join(root, entry.name);
    if (PRIVATE.has(name) || isSecretPath(entry.name)) {
      if (!entry.isSymbolicLink()) visibility.covered.push({ path: file, isFolder: entry.isDirectory() });
      noteTwin(file, twins);
    } else if (entry.isSymbolicLink()) visibility.shown.push({ path: file, link: fs.readlinkSync(file) });
    else if (entry.isFile()) visibility.shown.push({ path: file });
    else if (entry.isDirectory()) {
      const isChecked = check(root, entry.name, ownFolders, maxEntries, visibility, twins);
      if (isChecked || OURS.has(name)) visibility.shown.push({ path: file });
      else visibility.covered.push({ path: file, isFolder: true });
    }
  }
  if (twins.size > 0) coverTwins(root, ownFolders, visibility, twins);
  return visibility;
}

/** Finds the secrets below a top-level folder. False if there are too many entries to check. */
function check(
  root: string,
  top: string,
  ownFolders: readonly string[],
  maxEntries: number,
  visibility: Visibility,
  twins: Set<string>,
): boolean {
  const folders = [top];
  const covered: Visibility['covered'] = [];
  const repositories: string[] = [];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (ownFolders.includes(path.join(root, folder))) continue;
    const entries = list(path.join(root, folder));
    count += entries.length;
    if (count > maxEntries) return false;
    for (const entry of entries) {
      const below = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) continue;
      if (isSecretPath(below)) {
        covered.push({ path: path.join(root, below), isFolder: entry.isDirectory() });
        noteTwin(path.join(root, below), twins);
      } else if (entry.name === '.git') repositories.push(path.join(root, below));
      else if (entry.isDirectory() && !PACKAGES.has(entry.name)) folders.push(below);
    }
  }
  visibility.covered.push(...covered);
  visibility.repositories.push(...repositories);
  return true;
}

/** Remembers a secret that has further names. */
function noteTwin(file: string, twins: Set<string>): void {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() && stat.nlink > 1) twins.add(`${stat.dev}:${stat.ino}`);
}

/** Covers hard links to secrets. Looks at every file, so call it only if there are such links. */
function coverTwins(root: string, ownFolders: readonly string[], visibility: Visibility, twins: Set<string>): void {
  const isCovered = new Set(visibility.covered.map((entry) => entry.path));
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of list(folder)) {
      const file = path.join(folder, entry.name);
      if (isCovered.has(file) || ownFolders.includes(file)) continue;
      if (entry.isDirectory()) folders.push(file);
      else if (entry.isFile()) {
        const stat = fs.lstatSync(file, { throwIfNoEntry: false });
        if (stat !== undefined && twins.has(`${stat.dev}:${stat.ino}`))
          visibility.covered.push({ path: file, isFolder: false });
      }
    }
  }
}

/** The command runs as the same user, so it cannot read a folder that we cannot read. */
function list(folder: string): fs.Dirent[] {
  return attempt(() => fs.readdirSync(folder, { withFileTypes: true }), []);
}
