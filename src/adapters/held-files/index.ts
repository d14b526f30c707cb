/**
 * `.guild/held.json`: the unreadable files that have been reported, each with the stamp it had
 * then. The file may be deleted at any time; each unreadable file is then reported once more.
 * Problems without a file are always reported.
 */
import { parseMapping } from '../../domain/mapping.js';
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { HeldFiles } from '../../ports/held-files.js';

const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 1000;

export function heldFiles({ root, disk, peer }: { root: string; disk: Disk; peer: string }): HeldFiles {
  const file = path.join(root, '.guild', 'held.json');
  let count = 0;

  return {
    isNews({ where, message }: Problem) {
      if (where === undefined) return true;
      const known = read();
      const now = `${stampOf(where.file)} ${where.line ?? ''} ${message}`;
      if (known.get(where.file) === now) return false;
      known.delete(where.file);
      known.set(where.file, now);
      // Files that are gone need not be remembered.
      for (const name of known.keys()) if (known.size > MAX_FILES || stampOf(name) === undefined) known.delete(name);
      write(known);
      return true;
    },
  };

  /** Read again each time: another process may have written it, and unreadable files are few. */
  function read(): Map<string, string> {
    const content = fenced(file, () => disk.read(file, MAX_BYTES));
    const known = content.kind === 'file' ? parseMapping(content.bytes.toString('utf8')) : undefined;
    return new Map(Object.entries(known ?? {}).map(([name, text]) => [name, String(text)]));
  }

  function write(known: ReadonlyMap<string, string>): void {
    const tmp = path.join(root, '.guild', 'tmp', `${peer}-held${++count}`);
    if (disk.create(tmp, JSON.stringify(Object.fromEntries(known)))) disk.rename(tmp, file);
  }

  function stampOf(name: string): string | undefined {
    const full = path.join(root, name);
    const stamp = fenced(name, () => disk.stamp(full));
    return isUnreadable(stamp) ? 'unknown' : stamp;
  }
}
