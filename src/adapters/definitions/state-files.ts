/**
 * Which files of a workspace are work and which are definitions. Work is in the store; definitions
 * travel by Git. An agent's own repository and private files of this machine are neither.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';

const WORK = [
  ...['tasks', 'sessions', 'results', 'events', 'memory', 'context', 'scratch', 'inbox', 'bus', 'quarantine'],
  ...['storage/blobs', 'storage/paused', 'storage/planner-checkin.yaml'],
];
const NEITHER = ['.guild', '.git', 'workspaces', 'node_modules', 'agents/live', 'agents/registry.json'];

/** Paths relative to the workspace, with forward slashes, sorted. Secrets are left out. */
export function workFiles(root: string): string[] {
  return walk(root, (file) => isUnder(file, WORK) || WORK.some((start) => start.startsWith(`${file}/`))).filter(
    (file) => isUnder(file, WORK),
  );
}

export function definitionFiles(root: string): string[] {
  return walk(root, (file) => !isUnder(file, [...WORK, ...NEITHER]));
}

/**
 * Whether an entry of a store may become this file of a workspace. Any worker can write entries, so
 * a name that leads out of the folder or into the definitions is never written.
 */
export function isWorkFile(file: string): boolean {
  return isPlainPath(file) && isUnder(file, WORK) && !isSecretPath(file);
}

/** A relative path with forward slashes, whose names every file system accepts. */
export function isPlainPath(file: string): boolean {
  const isName = (part: string): boolean =>
    part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= MAX_NAME_BYTES;
  return !UNWRITABLE.test(file) && file.split('/').every(isName);
}

/**
 * Whether a path is, or could become, a plain file of this folder: it does not lead elsewhere, not
 * even through a link, and no folder or file is in its way.
 */
export function isOwnPlace(root: string, file: string): boolean {
  if (!isPlainPath(file)) return false;
  const parts = file.split('/');
  const above = parts.slice(1).map((_, n) => lstat(path.join(root, ...parts.slice(0, n + 1))));
  const own = lstat(path.join(root, file));
  return above.every((stat) => stat === undefined || stat.isDirectory()) && (own === undefined || own.isFile());
}

/** Also undefined if a part of the path is a file. */
function lstat(file: string): fs.Stats | undefined {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }));
}

const MAX_NAME_BYTES = 240;
/** A backslash leads to another folder on Windows; control characters hide a name from a person. */
// oxlint-disable-next-line no-control-regex
const UNWRITABLE = /[\\\u0000-\u001f\u007f]/;

function isUnder(file: string, starts: readonly string[]): boolean {
  return starts.some((start) => file === start || file.startsWith(`${start}/`));
}

/** Plain files only: a link could lead out of the workspace. */
function walk(root: string, isWanted: (file: string) => boolean): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!isWanted(file) || isSecretPath(file)) continue;
      if (entry.isDirectory()) visit(file);
      else if (entry.isFile()) found.push(file);
    }
  };
  visit('');
  return found.sort();
}
