/**
 * A side record of where files come from: `.guild/file-taint.jsonl`, one line for each write of a
 * tainted task, by path and hash. A file that changed since carries no taint of its own; in an
 * agent's folder it then carries that of the commands that ran for the agent.
 */
import path from 'node:path';
import type { BoundBase } from '../../domain/task/approval.js';
import type { Disk } from '../../ports/disk.js';
import type { FileTaint } from '../../ports/consent/file-taint.js';

interface Options {
  root: string;
  disk: Disk;
  /** The file at a path now. */
  baseOf(path: string): BoundBase | undefined;
}

interface Known {
  files: Map<string, { sha256: string; taint: string[] }>;
  /** By agent. */
  folders: Map<string, Set<string>>;
}

type Line = { file: string; sha256: string; taint: string[] } | { agent: string; taint: string[] };

export function fileTaint({ root, disk, baseOf }: Options): FileTaint {
  const file = path.join(root, '.guild', 'file-taint.jsonl');
  let stamp: string | undefined;
  let known: Known = { files: new Map(), folders: new Map() };

  return {
    of(requested) {
      const record = load();
      if (record.files.size === 0 && record.folders.size === 0) return [];
      const base = baseOf(requested);
      if (base === undefined) return [];
      const own = record.files.get(base.path);
      if (own?.sha256 === base.sha256) return own.taint;
      const [, agent] = /^(?:workspaces|scratch)\/([^/]+)\//.exec(base.path) ?? [];
      return [...(record.folders.get(agent ?? '') ?? [])];
    },
    wrote(requested, taint) {
      const base = baseOf(requested);
      const before = base && load().files.get(base.path);
      // A clean write is recorded only where it replaces a tainted one.
      if (base !== undefined && (taint.length > 0 || before !== undefined))
        append({ file: base.path, sha256: base.sha256, taint: [...taint] });
    },
    ran(agent, taint) {
      const before = load().folders.get(agent);
      if (taint.some((source) => before?.has(source) !== true)) append({ agent, taint: [...taint] });
    },
  };

  function load(): Known {
    const now = disk.stamp(file);
    if (now === stamp) return known;
    const read = disk.read(file);
    known = parse(read.kind === 'file' ? read.bytes.toString('utf8') : '');
    stamp = now;
    return known;
  }

  function append(line: Line): void {
    disk.makeFolder(path.dirname(file), 0o700);
    if (disk.stamp(file) === undefined) disk.create(file, '');
    disk.append(file, `${JSON.stringify(line)}\n`);
  }
}

/** A line that a crash has torn is left out. */
function parse(text: string): Known {
  const known: Known = { files: new Map(), folders: new Map() };
  for (const line of text.split('\n')) {
    try {
      const entry = JSON.parse(line) as Line;
      if ('file' in entry) known.files.set(entry.file, entry);
      else known.folders.set(entry.agent, new Set([...(known.folders.get(entry.agent) ?? []), ...entry.taint]));
    } catch {
      continue;
    }
  }
  return known;
}
