/**
 * One journal per process for conversations and ends of tasks that are still queued for writing. A
 * line is far cheaper than the files, and one sync covers all lines. After a crash or a power cut
 * another process rebuilds the files from it, so that no model call is paid twice and no
 * acknowledged result is lost.
 */
import path from 'node:path';
import type { EndedState } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { parseClaimName, type Layout } from './base/layout.js';
import type { AtomicWrite } from './base/atomic-write.js';

export interface Journal {
  /** Appends at once; a power cut may lose the line. */
  add(line: Line): void;
  /** Durable when resolved, with all earlier lines. */
  keep(lines: readonly Line[]): Promise<void>;
  /** Its file has been written, or is not needed any more. */
  arrived(id: string): void;
  /**
   * Resolves when the names of all files that arrived are durable; their lines then no longer
   * count.
   */
  settle(): Promise<void>;
  /**
   * Writes the files that a dead process had not written, durably; returns the number of
   * conversations among them.
   */
  adopt(peer: string): number;
  /**
   * Others took this process for dead and wrote its files: starts new journal files that they have
   * not read.
   */
  begin(): void;
  /** The processes that have journal files. */
  others(): string[];
  close(): void;
}

/** A conversation, the end of a task, or a result page. `text`: the content of the file. */
export type Line = { readonly id: string; readonly session: string; readonly text: string } | EndLine | PageLine;

/** `of`: the stamp of the claim that it ended. */
interface EndLine {
  readonly id: string;
  readonly state: EndedState;
  readonly text: string;
  readonly of?: string | undefined;
}

/** `page`: the task; kept together with its end. `was`: the stamp of the page of an earlier end. */
export interface PageLine {
  readonly id: string;
  readonly page: string;
  readonly text: string;
  readonly was?: string | undefined;
}

/** Does not collide with the ids of tasks, which contain no spaces. */
export function keyOf(session: string): string {
  return `conversation ${session}`;
}

export function pageLine(task: string, text: string, was: string | undefined): PageLine {
  return { id: `page ${task}`, page: task, text, was };
}

/**
 * One file of a journal. A new file is started when the last is long enough; a file without live
 * lines is deleted.
 */
interface Part {
  readonly file: string;
  bytes: number;
  /** The number of bytes that are durable; undefined: not even the name is. */
  safe: number | undefined;
  /** Why a sync failed. Its unsynced bytes count as lost, whatever a later sync returns. */
  lost?: { thrown: unknown };
  /** Ids of which these lines are the only copy, with the folder of the file. */
  readonly live: Map<string, string>;
}

/** Creating and deleting files is expensive. */
const MOST_BYTES = 256 * 1024;

export function journal(disk: Disk, layout: Layout, writing: AtomicWrite, peer: string): Journal {
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
      settling = settling.then(settle); // rejects for good once a sync has failed
      return settling;
    },
    adopt,
    begin,
    others: () => [...new Set(disk.list(layout.journal).filter(isJournal).map(ownerOf))],
    close() {
      for (const { file } of row.splice(0)) disk.remove(file);
    },
  };

  function begin(): void {
    for (const part of row.splice(0)) {
      if (disk.stamp(part.file) !== undefined) row.push(part);
      else disk.remove(part.file); // the name is gone, but the file is still open
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
      part = {
        file: path.join(layout.journal, `${peer}.${++count}.jsonl`),
        bytes: 0,
        safe: undefined,
        live: new Map(),
      };
      disk.create(part.file, text);
      row.push(part);
    } else disk.appendOwn(part.file, text);
    part.bytes += text.length;
    for (const line of lines) {
      for (const { live } of row) live.delete(line.id);
      arrivals.delete(line.id); // the earlier arrival was of older content
      part.live.set(line.id, path.dirname(fileOf(line)));
    }
  }

  async function sync(part: Part): Promise<void> {
    const { bytes, safe, lost } = part;
    if (lost !== undefined) throw lost.thrown;
    if (safe !== undefined && safe >= bytes) return;
    try {
      await Promise.all([disk.sync(part.file), safe === undefined ? disk.syncFolder(layout.journal) : undefined]);
    } catch (thrown) {
      if (!row.includes(part)) return; // its lines are not needed any more
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
    // the others were journaled again since
    const there = [...named.keys()].filter((id) => arrivals.get(id) === named.get(id));
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
      .list(layout.journal)
      .filter((name) => isJournal(name) && ownerOf(name) === dead)
      .sort((a, b) => Number(a.split('.').at(-2)) - Number(b.split('.').at(-2)))
      .map((name) => path.join(layout.journal, name));
    if (own.length === 0) return before;
    // Sync first: if we die halfway and the power fails, the next process needs the other half too.
    for (const file of [...own, layout.journal]) syncIfThere(file);
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

  /**
   * Pages last: they need their record. `ends`: the last end of each task, whether it still counts
   * or not.
   */
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

  /** Skipped if the task was retried since, or a person has edited its page. */
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

  /** Another process may adopt the same journal and finish first. */
  function syncIfThere(file: string): void {
    try {
      disk.syncNow(file);
    } catch (thrown) {
      if (disk.stamp(file) !== undefined) throw thrown;
    }
  }

  /** A claim of the dead process does not count: the sweep of claims removes it. */
  function liesAnywhere(line: Line, dead: string): boolean {
    if (!('state' in line)) return disk.stamp(fileOf(line)) !== undefined;
    const { id } = line;
    const places = ['completed', 'failed', 'pending', 'waiting'] as const;
    const isPlaced = (): boolean => {
      const before = undone(line);
      return places.some((state) => {
        const file = layout.task(state, id);
        return !before.includes(file) && disk.stamp(file) !== undefined;
      });
    };
    if (isPlaced()) return true;
    const claims = disk.list(layout.tasks('active')).map(parseClaimName);
    // it may be moving between folders
    return claims.some((claim) => claim?.id === id && claim.peer !== dead) || isPlaced();
  }

  /**
   * The task's files as they were before the claim: a power cut may undo a rename and keep later
   * synced writes.
   */
  function undone({ id, of }: EndLine): string[] {
    const files = [layout.task('pending', id), layout.task('waiting', id)];
    return files.filter((file) => {
      const stamp = disk.stamp(file);
      return of !== undefined && stamp !== undefined && sameContent(stamp, of);
    });
  }

  function fileOf(line: Line): string {
    if ('session' in line) return layout.session(line.session);
    return 'page' in line ? layout.result(line.page) : layout.task(line.state, line.id);
  }
}

/** Starts a new line, in case the previous one was cut short by a full disk. */
function printed(line: Line | { readonly there: string[] }): string {
  return `\n${JSON.stringify(line)}`;
}

/**
 * Whether this is the text, or what a power cut may leave of it unsynced: a prefix, or zeros of its
 * length.
 */
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

/** A torn line was never acknowledged, so it is skipped. */
function parse(text: string): Line | { readonly there: string[] } | undefined {
  try {
    const line = text === '' ? undefined : (JSON.parse(text) as Line | { there: string[] });
    return typeof line === 'object' && ('there' in line || 'text' in line) ? line : undefined;
  } catch {
    return undefined;
  }
}
