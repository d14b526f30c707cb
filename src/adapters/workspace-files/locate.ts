/**
 * Resolves a path like the system would, link by link, including names that do not exist yet.
 * Nothing is opened, so nothing can hang. The result may be stale immediately, so the place must
 * then be opened without following links (open.ts).
 */
import fs from 'node:fs';
import path from 'node:path';

export type PlaceKind = 'file' | 'twin' | 'folder' | 'other' | 'missing';

type Place =
  /** `parts` are below the root and free of links. `passed` are the paths of links on the way. */
  | { at: 'inside'; parts: string[]; kind: PlaceKind; passed: string[][] }
  | { at: 'outside' }
  | { at: 'nowhere'; reason: string };

const MAX_LINKS = 40;

/** `root` is absolute and contains no links. */
export function locate(root: string, requested: string): Place {
  const rootParts = partsOf(root);
  try {
    const passed: string[][] = [];
    const real = resolveLinks(rootParts, requested, passed);
    if (real === undefined) return { at: 'nowhere', reason: 'its links form a loop' };
    // Compare part by part: /work-evil is not inside /work.
    const isInside = (parts: string[]): boolean => rootParts.every((part, i) => parts[i] === part);
    if (!isInside(real)) return { at: 'outside' };
    const below = (parts: string[]): string[] => parts.slice(rootParts.length);
    return { at: 'inside', parts: below(real), kind: kindAt(real), passed: passed.filter(isInside).map(below) };
  } catch (error) {
    return { at: 'nowhere', reason: reasonOf(error) };
  }
}

export function kindOf(stat: fs.Stats): PlaceKind {
  if (stat.isFile()) return stat.nlink > 1 ? 'twin' : 'file';
  return stat.isDirectory() ? 'folder' : 'other';
}

function partsOf(absolute: string): string[] {
  return absolute.split('/').filter((part) => part !== '');
}

/** Undefined if there are too many links. */
function resolveLinks(rootParts: string[], requested: string, passed: string[][]): string[] | undefined {
  const remaining = requested.split('/').reverse();
  let current = path.posix.isAbsolute(requested) ? [] : [...rootParts];
  let links = 0;
  while (remaining.length > 0) {
    const part = remaining.pop()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      current.pop();
      continue;
    }
    const full = `/${[...current, part].join('/')}`;
    if (!fs.lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink()) {
      current.push(part);
      continue;
    }
    if (++links > MAX_LINKS) return undefined;
    passed.push(partsOf(path.posix.normalize([full, ...remaining.toReversed()].join('/'))));
    const target = fs.readlinkSync(full);
    if (path.posix.isAbsolute(target)) current = [];
    remaining.push(...target.split('/').reverse());
  }
  return current;
}

function kindAt(real: string[]): PlaceKind {
  const stat = fs.lstatSync(`/${real.join('/')}`, { throwIfNoEntry: false });
  return stat === undefined ? 'missing' : kindOf(stat);
}

const REASONS: Record<string, string> = {
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENOENT: 'it changed while it was resolved',
  EINVAL: 'it changed while it was resolved',
  EACCES: 'permission denied on the way to it',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links form a loop',
};

function reasonOf(error: unknown): string {
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? 'it cannot be resolved';
}
