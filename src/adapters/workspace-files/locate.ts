/**
 * Where a path really leads: every link followed by hand, as the system would, also for names that do not exist yet.
 * Nothing is opened here, so nothing can hang. The answer may be stale a moment later: whoever opens the place must walk
 * to it without following links (open.ts), and then finds out.
 */
import fs from 'node:fs';
import path from 'node:path';

export type PlaceKind = 'file' | 'twin' | 'folder' | 'other' | 'missing';

type Place =
  /** `parts` below the root, free of links. `passed`: the path as it read at each link on the way, where that was inside. */
  | { at: 'inside'; parts: string[]; kind: PlaceKind; passed: string[][] }
  | { at: 'outside' }
  | { at: 'nowhere'; reason: string };

const MAX_LINKS = 40;

/** `root` is absolute and holds no links itself. */
export function locate(root: string, wanted: string): Place {
  const rootParts = partsOf(root);
  try {
    const passed: string[][] = [];
    const real = followed(rootParts, wanted, passed);
    if (real === undefined) return { at: 'nowhere', reason: 'its links lead in a circle' };
    // Part by part: /work is no folder of /work-evil.
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

/** Undefined: more links than any honest path has. */
function followed(rootParts: string[], wanted: string, passed: string[][]): string[] | undefined {
  const todo = wanted.split('/').reverse();
  let here = path.posix.isAbsolute(wanted) ? [] : [...rootParts];
  let links = 0;
  while (todo.length > 0) {
    const part = todo.pop()!;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      here.pop();
      continue;
    }
    const full = `/${[...here, part].join('/')}`;
    if (!fs.lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink()) {
      here.push(part);
      continue;
    }
    if (++links > MAX_LINKS) return undefined;
    passed.push(partsOf(path.posix.normalize([full, ...todo.toReversed()].join('/'))));
    const target = fs.readlinkSync(full);
    if (path.posix.isAbsolute(target)) here = [];
    todo.push(...target.split('/').reverse());
  }
  return here;
}

function kindAt(real: string[]): PlaceKind {
  const stat = fs.lstatSync(`/${real.join('/')}`, { throwIfNoEntry: false });
  return stat === undefined ? 'missing' : kindOf(stat);
}

const REASONS: Record<string, string> = {
  ENOTDIR: 'a file stands where a folder is meant',
  ENOENT: 'it changed while it was looked at',
  EINVAL: 'it changed while it was looked at',
  EACCES: 'permission denied on the way to it',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
};

function reasonOf(error: unknown): string {
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? 'it cannot be looked up';
}
