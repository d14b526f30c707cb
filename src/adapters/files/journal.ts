/**
 * What this process knows and the disk does not show yet, in a file of its own: what was said in conversations that have no file, and how parts ended whose records
 * have none. It costs one line where the files cost a dozen, and can be synced in one go. If the process dies, or the power fails, whoever comes next makes the files
 * from it, so that no answer is asked for, and paid, twice, and nothing that somebody was told is gone.
 */
import path from 'node:path';
import type { EndedState } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { parseClaimName, type Layout } from './base/layout.js';
import type { Writing } from './base/atomic-write.js';

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
  /** Others held this process for dead and have made its files: what is written from now on goes where they have not looked. */
  begin(): void;
  /** Processes that left something. */
  others(): string[];
  close(): void;
}

/** A conversation as it is, how a task ended, or the page with the result of one. `text`: the whole file. */
export type Line = { readonly id: string; readonly session: string; readonly text: string } | EndLine | PageLine;

/** `of`: the stamp of the claim it ended. */
interface EndLine {
  readonly id: string;
  readonly state: EndedState;
  readonly text: string;
  readonly of?: string | undefined;
}

/** `page`: of which task; kept together with its end. `was`: the stamp of the page of an end before this one. */
export interface PageLine {
  readonly id: string;
  readonly page: string;
  readonly text: string;
  readonly was?: string | undefined;
}

/** Beside the ids of tasks, which have no blank in them. */
export function keyOf(session: string): string {
  return `conversation ${session}`;
}

export function pageLine(task: string, text: string, was: string | undefined): PageLine {
  return { id: `page ${task}`, page: task, text, was };
}

/** A journal is a row of files: when the last is longer than this another is begun, and one of which nothing is needed any more goes. */
interface Part {
  readonly file: string;
  bytes: number;
  /** So many of them are on the device; undefined: its name is not. */
  safe: number | undefined;
  /** Why a sync of it failed: what it should have kept counts as gone, and no later sync says otherwise. */
  lost?: { thrown: unknown };
  /** What only its lines tell, and in which folder that will lie. */
  readonly live: Map<string, string>;
}

/** Making and deleting files is dear. */
const MOST_BYTES = 256 * 1024;

export function journal(disk: Disk, l: Layout, writing: Writing, peer: string): Journal {
  const row: Part[] = [];
  const arrivals = new Map<string, { folder: string }>();
  const made = new Map<string, number>();
  let count = 0;
  let settling: Promise<void> = Promise.resolve();

  return {
    add: (line) => write([line]),
    async keep(lines) {
      if (lines.length > 0) write(lines);
      await Promise.all(row.map(sync));
    },
    arrived(id) {
      for (const { live } of row) {
        const folder = live.get(id);
        if (folder === undefined) continue;
        live.delete(id);
        arrivals.set(id, { folder });
      }
    },
    settle() {
      settling = settling.then(settle); // never again, once a sync has failed
      return settling;
    },
    adopt,
    begin,
    others: () => [...new Set(disk.list(l.journal).filter(isJournal).map(ownerOf))],
    close() {
      for (const { file } of row.splice(0)) disk.remove(file);
    },
  };

  function begin(): void {
    for (const part of row.splice(0)) {
      if (disk.stamp(part.file) !== undefined) row.push(part);
      else disk.remove(part.file); // it is gone, but still in hand
    }
  }

  function write(lines: readonly Line[]): void {
    let part = row.at(-1);
    if (part !== undefined && disk.stamp(part.file) === undefined) {
      begin(); // a person deleted it
      part = row.at(-1);
    }
    const text = lines.map(printed).join('');
    if (part === undefined || part.bytes > MOST_BYTES) {
      part = { file: path.join(l.journal, `${peer}.${++count}.jsonl`), bytes: 0, safe: undefined, live: new Map() };
      disk.create(part.file, text);
      row.push(part);
    } else disk.appendOwn(part.file, text);
    part.bytes += text.length;
    for (const line of lines) {
      for (const { live } of row) live.delete(line.id);
      arrivals.delete(line.id); // that was something else
      part.live.set(line.id, path.dirname(fileOf(line)));
    }
  }

  async function sync(part: Part): Promise<void> {
    const { bytes, safe, lost } = part;
    if (lost !== undefined) throw lost.thrown;
    if (safe !== undefined && safe >= bytes) return;
    try {
      await Promise.all([disk.sync(part.file), safe === undefined ? disk.syncFolder(l.journal) : undefined]);
    } catch (thrown) {
      if (!row.includes(part)) return; // nothing of it was needed any more
      part.lost = { thrown };
      throw thrown;
    }
    part.safe = Math.max(part.safe ?? 0, bytes);
  }

  async function settle(): Promise<void> {
    if (arrivals.size === 0) return;
    const named = new Map(arrivals);
    const folders = new Set([...named.values()].map(({ folder }) => folder));
    await Promise.all([...folders].map((folder) => disk.syncFolder(folder)));
    const there = [...named.keys()].filter((id) => arrivals.get(id) === named.get(id)); // the others were kept anew since
    for (const id of there) arrivals.delete(id);
    while (row[0] !== undefined && row[0].live.size === 0 && row[0].bytes > MOST_BYTES) disk.remove(row.shift()!.file);
    const last = row.at(-1);
    if (last === undefined || there.length === 0 || disk.stamp(last.file) === undefined) return;
    const text = printed({ there });
    disk.appendOwn(last.file, text);
    last.bytes += text.length;
  }

  function adopt(dead: string): number {
    const before = made.get(dead) ?? 0;
    const own = disk
      .list(l.journal)
      .filter((name) => isJournal(name) && ownerOf(name) === dead)
      .sort((a, b) => Number(a.split('.').at(-2)) - Number(b.split('.').at(-2)))
      .map((name) => path.join(l.journal, name));
    if (own.length === 0) return before;
    // First: if we die halfway and the power fails then, whoever comes next must know the other half too.
    for (const file of [...own, l.journal]) syncIfThere(file);
    const { needed, ends } = stillNeeded(own);
    let conversations = 0;
    for (const line of needed) {
      if ('page' in line) makePage(line, ends.get(line.page));
      else if (!liesAnywhere(line, dead) && writing.showNew(fileOf(line), line.text)) {
        if ('session' in line) conversations++;
        else for (const file of undone(line)) disk.remove(file);
      }
    }
    made.set(dead, before + conversations);
    for (const folder of new Set(needed.map((line) => path.dirname(fileOf(line))))) disk.syncNow(folder);
    for (const file of own) disk.remove(file);
    return before + conversations;
  }

  /** Pages last: they need the record that they belong to. `ends`: as they were kept last, whether they count or not. */
  function stillNeeded(files: readonly string[]): { needed: Line[]; ends: ReadonlyMap<string, EndLine> } {
    const needed = new Map<string, Line>();
    const ends = new Map<string, EndLine>();
    for (const file of files) {
      const read = disk.read(file, Infinity);
      for (const text of read.kind === 'file' ? read.bytes.toString('utf8').split('\n') : []) {
        const line = parse(text);
        if (line === undefined) continue;
        if ('there' in line) line.there.forEach((id) => needed.delete(id));
        else needed.set(line.id, line);
        if ('state' in line) ends.set(line.id, line);
      }
    }
    const all = [...needed.values()];
    return { needed: [...all.filter((line) => !('page' in line)), ...all.filter((line) => 'page' in line)], ends };
  }

  /** Unless the task was tried again since, or a person has written in its page. */
  function makePage(line: PageLine, end: EndLine | undefined): void {
    const record = end && disk.read(fileOf(end));
    if (record?.kind !== 'file' || record.bytes.toString('utf8') !== end!.text) return;
    const file = fileOf(line);
    const found = disk.read(file);
    const isOurs = found.kind === 'file' && (found.stamp === line.was || isTorn(found.bytes, line.text));
    if (found.kind !== 'missing' && !isOurs) return;
    writing.show(file, line.text);
    syncIfThere(file);
  }

  /** Another may do the same, and be done before us. */
  function syncIfThere(file: string): void {
    try {
      disk.syncNow(file);
    } catch (thrown) {
      if (disk.stamp(file) !== undefined) throw thrown;
    }
  }

  /** Only a claim of the dead one may be there, which whoever looks at claims removes. */
  function liesAnywhere(line: Line, dead: string): boolean {
    if (!('state' in line)) return disk.stamp(fileOf(line)) !== undefined;
    const { id } = line;
    const places = ['completed', 'failed', 'pending', 'waiting'] as const;
    const isPlaced = (): boolean => {
      const before = undone(line);
      return places.some((state) => {
        const file = l.task(state, id);
        return !before.includes(file) && disk.stamp(file) !== undefined;
      });
    };
    if (isPlaced()) return true;
    const claims = disk.list(l.tasks('active')).map(parseClaimName);
    return claims.some((claim) => claim?.id === id && claim.peer !== dead) || isPlaced(); // it may be on its way
  }

  /** Where the task lies as it was before it was claimed: a power cut may undo a rename and keep what was synced after it. */
  function undone({ id, of }: EndLine): string[] {
    const files = [l.task('pending', id), l.task('waiting', id)];
    return files.filter((file) => {
      const stamp = disk.stamp(file);
      return of !== undefined && stamp !== undefined && sameContent(stamp, of);
    });
  }

  function fileOf(line: Line): string {
    if ('session' in line) return l.session(line.session);
    return 'page' in line ? l.result(line.page) : l.task(line.state, line.id);
  }
}

/** On a line of its own, also where the one before is torn because the disk was full. */
function printed(line: Line | { readonly there: string[] }): string {
  return `\n${JSON.stringify(line)}`;
}

/** Whole, or what a power cut may leave of an unsynced file: a part of it, or its length. */
function isTorn(found: Buffer, text: string): boolean {
  const whole = Buffer.from(text);
  const end = found.findLastIndex((byte) => byte !== 0) + 1;
  return found.length <= whole.length && found.subarray(0, end).equals(whole.subarray(0, end));
}

function isJournal(name: string): boolean {
  return /.\.\d+\.jsonl$/.test(name);
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
