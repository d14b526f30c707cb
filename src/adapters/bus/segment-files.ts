/**
 * A channel as append-only files. A full file gets a successor, created exclusively, so that all
 * processes agree on the order and no file is renamed or rewritten under a writer. A writer whose
 * file already had a successor appends again there; readers drop duplicates by note id.
 */
import path from 'node:path';
import type { Note } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { grewBy } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { readNote } from '../../text/records/note.js';
import {
  addNote,
  addSegment,
  dropExpired,
  dropSegment,
  emptySegment,
  notify,
  segmentWith,
  evict,
  type Channel,
  type Segment,
} from './channel.js';
import { parseSegmentFile, segmentFile } from './names.js';

/** A file of this size gets a successor. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
/** How many notes of a channel stay in memory, besides those of its last file. */
const MAX_LOADED = 10_000;
/** Longest single append. Longer batches are split. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** How many bytes before the offset must be unchanged. If they differ, a person edited the file. */
const TAIL_BYTES = 64;
/** How often an append may lose to other writers before it fails. */
const MAX_TRIES = 1000;

interface Progress {
  stamp: string;
  /** Where the next line starts. */
  offset: number;
  line: number;
  tail: Buffer;
  /** True if there are bytes after the last newline. */
  torn: boolean;
}

const UNREAD: Progress = { stamp: '', offset: 0, line: 1, tail: Buffer.alloc(0), torn: false };

interface SegmentFiles {
  /**
   * Reads new lines and notifies subscribers. `thorough` also looks for a successor of a file that
   * is not full, which only a person can have created.
   */
  refresh(channel: Channel, thorough?: boolean): void;
  /** `lines` are the printed notes. Returns the numbers of the files that contain them. */
  append(channel: Channel, notes: readonly Note[], lines: readonly string[]): Set<number>;
  file(channel: string, number: number): string;
}

export function segmentFiles(
  disk: Disk,
  root: string,
  now: () => string,
  report: (finding: Problem) => void,
  { segmentBytes = SEGMENT_BYTES, maxLoaded = MAX_LOADED }: { segmentBytes?: number; maxLoaded?: number } = {},
): SegmentFiles {
  const folder = path.join(root, 'bus');
  const progress = new WeakMap<Segment, Progress>();
  const listed = new WeakSet<Channel>();
  const file = (channel: string, number: number): string => segmentFile(folder, channel, number);

  return { refresh, append, file };

  function refresh(channel: Channel, thorough = false): void {
    const fresh: Note[] = [];
    const last = channel.segments.at(-1);
    // If the first listing found no files, only the first file can appear later.
    const stamp = listed.has(channel) ? disk.glance(file(channel.name, last?.number ?? 1)) : '';
    if (last === undefined) {
      if (stamp === undefined) return;
      load(channel, fresh);
    } else if (stamp === undefined) {
      // A person removed the file: list the folder again.
      for (const segment of [...channel.segments]) dropSegment(channel, segment);
      load(channel, fresh);
    } else {
      const grew = stamp !== progress.get(last)?.stamp;
      if (grew || thorough || isFull(last)) readSuccessors(channel, last, grew, fresh);
    }
    if (channel.segments.length > 1) {
      removeExpired(channel);
      evictOld(channel);
    }
    notify(channel, fresh);
  }

  function evictOld(channel: Channel): void {
    evict(channel, maxLoaded, (segment) => notesIn(channel, segment));
  }

  function isFull(segment: Segment): boolean {
    return (progress.get(segment) ?? UNREAD).offset >= segmentBytes;
  }

  function removeExpired(channel: Channel): void {
    const time = now();
    for (let expired = dropExpired(channel, time); expired; expired = dropExpired(channel, time))
      disk.remove(file(channel.name, expired.number));
  }

  /** Reads the last segment, if it grew, and all segments after it. */
  function readSuccessors(channel: Channel, last: Segment, grew: boolean, fresh: Note[]): void {
    for (let segment: Segment | undefined = last; segment !== undefined;) {
      const next: number | undefined =
        disk.stamp(file(channel.name, segment.number + 1)) === undefined ? undefined : segment.number + 1;
      // Read only after the successor was seen: lines appended from now on are repeated there.
      if (grew || next !== undefined || segment !== last) readMore(channel, segment, fresh);
      segment = next === undefined ? undefined : addSegment(channel, next);
    }
  }

  function load(channel: Channel, fresh: Note[]): void {
    const base = path.basename(channel.name);
    const numbers = disk
      .list(path.dirname(file(channel.name, 1)))
      .map(parseSegmentFile)
      .flatMap((segment) => (segment?.channel === base ? [segment.number] : []))
      .sort((a, b) => a - b);
    listed.add(channel);
    for (const number of numbers) {
      readMore(channel, addSegment(channel, number), fresh);
      evictOld(channel);
      if (channel.subscribers.size === 0) fresh.length = 0;
    }
  }

  /** The notes in the part of the file that was read before. Bad lines were reported then. */
  function* notesIn(channel: Channel, segment: Segment): Generator<Note> {
    const read = disk.read(file(channel.name, segment.number));
    if (read.kind !== 'file') return;
    const at = now();
    const text = read.bytes.toString('utf8', 0, progress.get(segment)?.offset ?? 0);
    for (const [i, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const parsed = readNote(line, { channel: channel.name, file: '', line: i + 1, at });
      if (parsed.ok) yield parsed.note;
    }
  }

  function readMore(channel: Channel, segment: Segment, fresh: Note[]): void {
    const name = file(channel.name, segment.number);
    const before = progress.get(segment) ?? UNREAD;
    const read = disk.readFrom(name, before.offset - before.tail.length);
    if (read.kind === 'missing') return;
    if (read.kind !== 'file') {
      const relative = path.relative(root, name);
      report(problem('bad_file', `${relative} cannot be read`, { where: { file: relative } }));
      return void progress.set(segment, { ...before, stamp: disk.stamp(name) ?? '' });
    }
    if (!read.bytes.subarray(0, before.tail.length).equals(before.tail)) return readAgain(channel, segment, fresh);
    const bytes = read.bytes.subarray(before.tail.length);
    const end = bytes.lastIndexOf(0x0a) + 1;
    const line =
      end === 0 ? before.line : readLines(channel, segment, bytes.toString('utf8', 0, end - 1), before.line, fresh);
    progress.set(segment, {
      stamp: read.stamp,
      offset: before.offset + end,
      line,
      tail: lastBytes(read.bytes.subarray(0, before.tail.length + end)),
      torn: end < bytes.length,
    });
  }

  /** A person edited the file: read all of it again. Subscribers get only notes that are new. */
  function readAgain(channel: Channel, segment: Segment, fresh: Note[]): void {
    const oldIds = new Set(segment.notes.map((note) => note.id));
    emptySegment(channel, segment);
    progress.delete(segment);
    const all: Note[] = [];
    readMore(channel, segment, all);
    for (const note of all) if (!oldIds.has(note.id)) fresh.push(note);
  }

  /** Returns the number of the line after the text. */
  function readLines(channel: Channel, segment: Segment, text: string, first: number, fresh: Note[]): number {
    const at = now();
    const relative = path.relative(root, file(channel.name, segment.number));
    const lines = text.split('\n');
    for (const [i, line] of lines.entries()) {
      if (line.trim() === '') continue;
      const read = readNote(line, { channel: channel.name, file: relative, line: first + i, at });
      if (!read.ok) report(read.problem);
      else if (addNote(channel, segment, read.note)) fresh.push(read.note);
    }
    return first + lines.length;
  }

  function append(channel: Channel, notes: readonly Note[], lines: readonly string[]): Set<number> {
    refresh(channel);
    const numbers = new Set<number>();
    const remaining = unwritten(channel, { notes, lines });
    if (remaining.notes !== notes) addNumbers(channel, notes, numbers);
    for (const batch of batches(remaining)) appendBatch(channel, batch, numbers);
    return numbers;
  }

  /** Adds the numbers of the files that contain the batch to `numbers`. */
  function appendBatch(channel: Channel, batch: Batch, numbers: Set<number>): void {
    let remaining = batch;
    let startNewLine = false;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const last = openSegment(channel);
      const before = progress.get(last) ?? UNREAD;
      const text = remaining.lines.join('');
      const bytes = Buffer.from(before.torn || startNewLine ? `\n${text}` : text);
      const stamp = appendTo(file(channel.name, last.number), bytes);
      if (stamp === undefined) {
        refresh(channel);
        continue;
      }
      if (!before.torn && !startNewLine && grewBy(before.stamp, stamp, bytes.length)) {
        // The file was not full, so it cannot have a successor.
        trust(channel, last, remaining.notes, { ...before, stamp }, bytes);
        return void numbers.add(last.number);
      }
      refresh(channel);
      startNewLine = true;
      // It has a successor: readers that had already finished this file miss our lines. Append
      // again.
      if (disk.stamp(file(channel.name, last.number + 1)) !== undefined) continue;
      const missing = unwritten(channel, remaining);
      if (missing.notes.length === 0) return addNumbers(channel, batch.notes, numbers);
      remaining = missing; // the first line was glued to the torn end of another writer
    }
    throw new Error(`notes on ${channel.name} could not be written in ${MAX_TRIES} attempts`);
  }

  /** The segment to append to, created if necessary. */
  function openSegment(channel: Channel): Segment {
    for (;;) {
      const last = channel.segments.at(-1);
      if (last !== undefined && !isFull(last)) return last;
      const name = file(channel.name, last === undefined ? 1 : last.number + 1);
      if (last === undefined) disk.makeFolder(path.dirname(name));
      disk.create(name, ''); // false if another process created it first
      refresh(channel);
    }
  }

  function appendTo(name: string, bytes: Buffer): string | undefined {
    try {
      return disk.append(name, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The file grew by exactly our bytes, so its content is known without reading it back. */
  function trust(channel: Channel, segment: Segment, notes: readonly Note[], before: Progress, bytes: Buffer): void {
    const fresh = notes.filter((note) => addNote(channel, segment, note));
    progress.set(segment, {
      stamp: before.stamp,
      offset: before.offset + bytes.length,
      line: before.line + notes.length,
      tail: lastBytes(bytes.length >= TAIL_BYTES ? bytes : Buffer.concat([before.tail, bytes])),
      torn: false,
    });
    notify(channel, fresh);
  }
}

interface Batch {
  notes: readonly Note[];
  lines: readonly string[];
}

/** The notes that the channel does not have yet: usually the whole batch. */
function unwritten(channel: Channel, batch: Batch): Batch {
  const { notes, lines } = batch;
  if (!notes.some((note) => segmentWith(channel, note.id) !== undefined)) return batch;
  const isNew = (_: unknown, i: number): boolean => segmentWith(channel, notes[i]!.id) === undefined;
  return { notes: notes.filter(isNew), lines: lines.filter(isNew) };
}

function addNumbers(channel: Channel, notes: readonly Note[], numbers: Set<number>): void {
  for (const note of notes) {
    const number = segmentWith(channel, note.id);
    if (number !== undefined) numbers.add(number); // undefined if expired or not written yet
  }
}

/** Splits a batch into pieces that one append may write. */
function* batches({ notes, lines }: Batch): Generator<Batch> {
  let from = 0;
  let size = 0;
  for (let i = 0; i < lines.length; i++) {
    size += lines[i]!.length;
    if (size < BATCH_BYTES && i + 1 < lines.length) continue;
    yield from === 0 && i + 1 === lines.length
      ? { notes, lines }
      : { notes: notes.slice(from, i + 1), lines: lines.slice(from, i + 1) };
    from = i + 1;
    size = 0;
  }
}

function lastBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-TAIL_BYTES));
}
