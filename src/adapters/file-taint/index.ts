/**
 * A side record of where files come from: `.guild/file-taint.jsonl`, one line for each write of a
 * tainted task, by path and hash. The record of a file that changed since does not count. If the
 * file is in an agent's folder, it then carries the taint of the commands that ran for the agent.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { BoundBase } from '../../domain/task/approval.js';
import type { Disk } from '../../ports/disk.js';
import type { FileTaint } from '../../ports/consent/file-taint.js';

interface Options {
  root: string;
  disk: Disk;
  baseOf(path: string): BoundBase | undefined;
}

interface Known {
  /** By path and hash: a write that did not happen must not hide the record of an earlier one. */
  files: Map<string, Map<string, string[]>>;
  /** By agent. */
  folders: Map<string, Set<string>>;
  /** A crash has torn the last line; the next one must not continue it. */
  isTorn: boolean;
  /** The record cannot be read, so every file may come from outside. */
  isLost?: true;
}

type Line = { file: string; sha256: string; taint: string[] } | { agent: string; taint: string[] };

/** The source of files whose record cannot be read. */
const LOST = 'file-taint/unreadable';

export function fileTaint({ root, disk, baseOf }: Options): FileTaint {
  const file = path.join(root, '.guild', 'file-taint.jsonl');
  let stamp: string | undefined;
  let known = parse('');

  return {
    of(requested) {
      const record = load();
      if (record.isLost) return [LOST];
      if (record.files.size === 0 && record.folders.size === 0) return [];
      const base = baseOf(requested);
      if (base === undefined) return [];
      const own = record.files.get(base.path)?.get(base.sha256);
      return own ?? [...(record.folders.get(ownerOf(base.path)) ?? [])];
    },
    below(folder) {
      const { files, folders, isLost } = load();
      if (isLost) return [LOST];
      const start = folder === '' ? '' : `${folder}/`;
      const isBelow = (name: string): boolean => name.startsWith(start) || start.startsWith(name);
      const sources = [...files].flatMap(([name, hashes]) =>
        name.startsWith(start) ? [...hashes.values()].flat() : [],
      );
      for (const [agent, taint] of folders)
        if (isBelow(`workspaces/${agent}/`) || isBelow(`scratch/${agent}/`)) sources.push(...taint);
      return [...new Set(sources)];
    },
    writes(requested, content, taint) {
      const { files, folders, isLost } = load();
      if (isLost) return;
      if (taint.length === 0 && files.size === 0 && folders.size === 0) return;
      const base = baseOf(requested);
      if (base === undefined) return;
      // A clean write is recorded only if the file would otherwise count as tainted.
      if (taint.length === 0 && !files.has(base.path) && !folders.has(ownerOf(base.path))) return;
      const sha256 = createHash('sha256').update(content).digest('hex');
      append({ file: base.path, sha256, taint: [...taint] });
    },
    runs(agent, taint) {
      const { folders, isLost } = load();
      const before = folders.get(agent);
      if (isLost) return;
      if (taint.some((source) => before?.has(source) !== true)) append({ agent, taint: [...taint] });
    },
  };

  function load(): Known {
    const now = disk.stamp(file);
    if (now === stamp) return known;
    const read = disk.read(file);
    known = parse(read.kind === 'file' ? read.bytes.toString('utf8') : '');
    if (read.kind !== 'file' && read.kind !== 'missing') known.isLost = true;
    stamp = now;
    return known;
  }

  function append(line: Line): void {
    disk.makeFolder(path.dirname(file), 0o700);
    const isNew = disk.create(file, '');
    disk.append(file, `${known.isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    disk.syncNow(file);
    if (isNew) disk.syncNow(path.dirname(file));
  }
}

/** The agent in whose folder the file is; empty if it is in none. */
function ownerOf(file: string): string {
  return /^(?:workspaces|scratch)\/([^/]+)\//.exec(file)?.[1] ?? '';
}

/** A line that a crash has torn is left out. */
function parse(text: string): Known {
  const known: Known = { files: new Map(), folders: new Map(), isTorn: text !== '' && !text.endsWith('\n') };
  for (const line of text.split('\n')) {
    try {
      const entry = JSON.parse(line) as Line;
      if ('file' in entry) {
        const hashes = known.files.get(entry.file) ?? new Map<string, string[]>();
        known.files.set(entry.file, hashes.set(entry.sha256, entry.taint));
      } else known.folders.set(entry.agent, new Set([...(known.folders.get(entry.agent) ?? []), ...entry.taint]));
    } catch {
      continue;
    }
  }
  return known;
}
