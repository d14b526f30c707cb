/**
 * What this process knows and the disk does not show yet, in a file of its own: what was said in conversations that have no file, and how parts ended whose records
 * have none. It costs one line where the files cost a dozen, and can be synced in one go. If the process dies, or the power fails, whoever comes next makes the files
 * from it, so that no answer is asked for, and paid, twice, and nothing that somebody was told is gone.
 */
import path from 'node:path';
import type { EndedState } from '../../domain/task.js';
import type { Disk } from '../../ports/disk.js';
import { parseClaimName, type Layout } from './layout.js';
import type { Writing } from './writing.js';

export interface Journal {
  /** At once; a power cut may take it. */
  add(line: Line): void;
  /** Durable when resolved, with all before. */
  keep(lines: readonly Line[]): Promise<void>;
  /** It has its file now, or needs none. */
  arrived(id: string): void;
  /** Resolves when the names of all that arrived are durable; then their lines do not count any more. */
  settle(): Promise<void>;
  /** Makes the files that a dead process had not made; how many conversations were among them. Durable when it returns. */
  adopt(peer: string): number;
  /** Processes that left something. */
  others(): string[];
  close(): void;
}

/** A conversation as it is, how a task ended, or the page with the result of one. `text`: the whole file. */
export type Line =
  | { readonly id: string; readonly session: string; readonly text: string }
  | { readonly id: string; readonly state: EndedState; readonly text: string }
  | PageLine;

/** `page`: of which task. */
export interface PageLine {
  readonly id: string;
  readonly page: string;
  readonly text: string;
}

/** Beside the ids of tasks, which have no blank in them. */
export function keyOf(session: string): string {
  return `conversation ${session}`;
}

export function pageLine(task: string, text: string): PageLine {
  return { id: `page ${task}`, page: task, text };
}

/** A journal is a row of files: when the last is longer than this another is begun, and one of which nothing is needed any more goes. */
interface Part {
  readonly file: string;
  bytes: number;
  /** So many of them are on the device; undefined: its name is not. */
  safe: number | undefined;
  /** What only its lines tell, and in which folder that will lie. */
  readonly live: Map<string, string>;
}

/** Making and deleting files is dear. */
const MOST_BYTES = 256 * 1024;

export function journal(disk: Disk, l: Layout, writing: Writing, peer: string): Journal {
  const row: Part[] = [];
  const arrivals = new Map<string, string>();
  const made = new Map<string, number>();
  let count = 0;
  let settling: Promise<void> = Promise.resolve();

  return {
    add: (line) => void write([line]),
    async keep(lines) {
      if (lines.length > 0) write(lines);
      await Promise.all(row.map(sync));
    },
    arrived(id) {
      for (const { live } of row) {
        const folder = live.get(id);
        if (folder === undefined) continue;
        live.delete(id);
        arrivals.set(id, folder);
      }
    },
    settle() {
      settling = settling.then(settle, settle);
      return settling;
    },
    adopt,
    others: () => [...new Set(disk.list(l.journal).map(ownerOf))],
    close() {
      for (const { file } of row.splice(0)) disk.remove(file);
    },
  };

  function write(lines: readonly Line[]): void {
    let part = row.at(-1);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    if (part === undefined || part.bytes > MOST_BYTES) {
      part = { file: path.join(l.journal, `${peer}.${++count}.jsonl`), bytes: 0, safe: undefined, live: new Map() };
      disk.create(part.file, text);
      row.push(part);
    } else disk.appendOwn(part.file, text);
    part.bytes += text.length;
    for (const line of lines) {
      for (const { live } of row) live.delete(line.id);
      part.live.set(line.id, path.dirname(fileOf(line)));
    }
  }

  async function sync(part: Part): Promise<void> {
    const { bytes, safe } = part;
    if (safe !== undefined && safe >= bytes) return;
    try {
      await Promise.all([disk.sync(part.file), safe === undefined ? disk.syncFolder(l.journal) : undefined]);
    } catch (error) {
      if (row.includes(part)) throw error; // else nothing of it was needed any more
    }
    part.safe = Math.max(part.safe ?? 0, bytes);
  }

  async function settle(): Promise<void> {
    if (arrivals.size === 0) return;
    const there = [...arrivals.keys()];
    const folders = new Set(arrivals.values());
    arrivals.clear();
    await Promise.all([...folders].map((folder) => disk.syncFolder(folder)));
    while (row[0] !== undefined && row[0].live.size === 0 && row[0].bytes > MOST_BYTES) disk.remove(row.shift()!.file);
    const last = row.at(-1);
    if (last === undefined) return;
    const text = `${JSON.stringify({ there })}\n`;
    disk.appendOwn(last.file, text);
    last.bytes += text.length;
  }

  function adopt(dead: string): number {
    const before = made.get(dead);
    if (before !== undefined) return before;
    const own = disk
      .list(l.journal)
      .filter((name) => ownerOf(name) === dead)
      .sort((a, b) => Number(a.split('.').at(-2)) - Number(b.split('.').at(-2)))
      .map((name) => path.join(l.journal, name));
    if (own.length === 0) return 0;
    const files: string[] = [];
    let conversations = 0;
    for (const line of stillNeeded(own)) {
      const file = fileOf(line);
      if ('page' in line) disk.remove(file); // of an end before this one
      if (liesAnywhere(line, dead) || !writing.showNew(file, line.text)) continue;
      files.push(file);
      if ('session' in line) conversations++;
    }
    made.set(dead, conversations);
    for (const folder of new Set(files.map((file) => path.dirname(file)))) disk.syncNow(folder);
    for (const file of own) disk.remove(file);
    return conversations;
  }

  function stillNeeded(files: readonly string[]): Iterable<Line> {
    const needed = new Map<string, Line>();
    for (const file of files) {
      const read = disk.read(file);
      for (const text of read.kind === 'file' ? read.bytes.toString('utf8').split('\n') : []) {
        const line = parse(text);
        if (line === undefined) continue;
        if ('there' in line) line.there.forEach((id) => needed.delete(id));
        else needed.set(line.id, line);
      }
    }
    return needed.values();
  }

  /** Only a claim of the dead one may be there, which whoever looks at claims removes. */
  function liesAnywhere(line: Line, dead: string): boolean {
    if (!('state' in line)) return disk.stamp(fileOf(line)) !== undefined;
    const { id } = line;
    const places = ['completed', 'failed', 'pending', 'waiting'] as const;
    if (places.some((state) => disk.stamp(l.task(state, id)) !== undefined)) return true;
    const claims = disk.list(l.tasks('active')).map(parseClaimName);
    return claims.some((claim) => claim?.id === id && claim.peer !== dead);
  }

  function fileOf(line: Line): string {
    if ('session' in line) return l.session(line.session);
    return 'page' in line ? l.result(line.page) : l.task(line.state, line.id);
  }
}

function ownerOf(name: string): string {
  return name.split('.').slice(0, -2).join('.');
}

/** A torn line is one that nobody waited for. */
function parse(text: string): Line | { readonly there: string[] } | undefined {
  try {
    const line = text === '' ? undefined : (JSON.parse(text) as Line | { there: string[] });
    return typeof line === 'object' && ('there' in line || 'text' in line) ? line : undefined;
  } catch {
    return undefined;
  }
}
