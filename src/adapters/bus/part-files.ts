/**
 * A channel as files that only grow. Every line is appended whole, and a file that has grown is left as it is: the next one is
 * created beside it, exclusively, so no two processes can disagree about the order, and no file is ever renamed or rewritten under
 * somebody who appends to it. Whoever appended to a file that had a successor by then appends again to the successor: reading
 * knows a note by its id and takes it once. What we appended is only believed when it is read back, or when nobody else can have written.
 * Nobody begins a successor before the file has its full size, so while it is smaller nobody need look for one.
 */
import path from 'node:path';
import type { Note } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { grewBy } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { readNote } from '../../text/records/note.js';
import {
  addNote,
  addPart,
  dropExpired,
  dropPart,
  emptyPart,
  hear,
  partWith,
  rest,
  type Channel,
  type Part,
} from './channel.js';
import { parsePartFile, partFile } from './names.js';

/** A file of this size gets a successor. */
const PART_BYTES = 4 * 1024 * 1024;
/** Notes of a channel in memory, beside those of its last file: older ones are read from theirs when somebody asks for them. */
const MOST_AWAKE = 10_000;
/** What one append writes at most; longer batches are several. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Bytes before the end of what was read that must still be there when the file has grown; else somebody edited it. */
const TAIL_BYTES = 64;
/** Others may be faster this often before something must be wrong. */
const MOST_TRIES = 1000;

interface Seen {
  stamp: string;
  /** Where the next line begins. */
  offset: number;
  line: number;
  tail: Buffer;
  /** There are bytes after the last newline. */
  torn: boolean;
}

const UNSEEN: Seen = { stamp: '', offset: 0, line: 1, tail: Buffer.alloc(0), torn: false };

interface PartFiles {
  /** Reads what was added since the last look, and lets hearers hear it. `wary`: also what only a person's hand can have put there. */
  refresh(on: Channel, wary?: boolean): void;
  /** `lines`: each note as it is printed. Returns the numbers of the files that the notes lie in. */
  append(on: Channel, notes: readonly Note[], lines: readonly string[]): Set<number>;
  file(channel: string, number: number): string;
}

export function partFiles(
  disk: Disk,
  root: string,
  now: () => string,
  report: (one: Problem) => void,
  { partBytes = PART_BYTES, mostAwake = MOST_AWAKE }: { partBytes?: number; mostAwake?: number } = {},
): PartFiles {
  const folder = path.join(root, 'bus');
  const seen = new WeakMap<Part, Seen>();
  const listed = new WeakSet<Channel>();
  const file = (channel: string, number: number): string => partFile(folder, channel, number);

  return { refresh, append, file };

  function refresh(on: Channel, wary = false): void {
    const fresh: Note[] = [];
    const last = on.parts.at(-1);
    // Once nothing was there, it begins with its first file.
    const stamp = listed.has(on) ? disk.stamp(file(on.name, last?.number ?? 1)) : '';
    if (last === undefined) {
      if (stamp === undefined) return;
      load(on, fresh);
    } else if (stamp === undefined) {
      // Somebody took the file away: what else is there now?
      for (const part of [...on.parts]) dropPart(on, part);
      load(on, fresh);
    } else {
      const grew = stamp !== seen.get(last)?.stamp;
      if (grew || wary || isFull(last)) look(on, last, grew, fresh);
    }
    if (on.parts.length > 1) {
      removeExpired(on);
      layToRest(on);
    }
    hear(on, fresh);
  }

  function layToRest(on: Channel): void {
    rest(on, mostAwake, (part) => notesIn(on, part));
  }

  function isFull(part: Part): boolean {
    return (seen.get(part) ?? UNSEEN).offset >= partBytes;
  }

  function removeExpired(on: Channel): void {
    const then = now();
    for (let gone = dropExpired(on, then); gone; gone = dropExpired(on, then)) disk.remove(file(on.name, gone.number));
  }

  /** The last part, if it grew, and those that came after it. */
  function look(on: Channel, last: Part, grew: boolean, fresh: Note[]): void {
    for (let part: Part | undefined = last; part !== undefined;) {
      const next: number | undefined =
        disk.stamp(file(on.name, part.number + 1)) === undefined ? undefined : part.number + 1;
      // Read after its successor was seen: nothing counts in it that is added from now on.
      if (grew || next !== undefined || part !== last) readMore(on, part, fresh);
      part = next === undefined ? undefined : addPart(on, next);
    }
  }

  function load(on: Channel, fresh: Note[]): void {
    const own = path.basename(on.name);
    const numbers = disk
      .list(path.dirname(file(on.name, 1)))
      .map(parsePartFile)
      .flatMap((one) => (one?.channel === own ? [one.number] : []))
      .sort((a, b) => a - b);
    listed.add(on);
    for (const number of numbers) {
      readMore(on, addPart(on, number), fresh);
      layToRest(on);
      if (on.hearers.size === 0) fresh.length = 0;
    }
  }

  /** What its file says now, as far as it was read before. Its bad lines were told then. */
  function* notesIn(on: Channel, part: Part): Generator<Note> {
    const read = disk.read(file(on.name, part.number));
    if (read.kind !== 'file') return;
    const at = now();
    const text = read.bytes.toString('utf8', 0, seen.get(part)?.offset ?? 0);
    for (const [i, one] of text.split('\n').entries()) {
      const given = one.trim() === '' ? undefined : readNote(one, { channel: on.name, file: '', line: i + 1, at });
      if (given?.ok) yield given.note;
    }
  }

  function readMore(on: Channel, part: Part, fresh: Note[]): void {
    const name = file(on.name, part.number);
    const before = seen.get(part) ?? UNSEEN;
    const read = disk.readFrom(name, before.offset - before.tail.length);
    if (read.kind === 'missing') return;
    if (read.kind !== 'file') {
      const shown = path.relative(root, name);
      report(problem('bad_file', `${shown} is not a file that can be read`, { where: { file: shown } }));
      return void seen.set(part, { ...before, stamp: disk.stamp(name) ?? '' });
    }
    if (!read.bytes.subarray(0, before.tail.length).equals(before.tail)) return readAnew(on, part, fresh);
    const bytes = read.bytes.subarray(before.tail.length);
    const end = bytes.lastIndexOf(0x0a) + 1;
    const line = end === 0 ? before.line : readLines(on, part, bytes.toString('utf8', 0, end - 1), before.line, fresh);
    seen.set(part, {
      stamp: read.stamp,
      offset: before.offset + end,
      line,
      tail: lastBytes(read.bytes.subarray(0, before.tail.length + end)),
      torn: end < bytes.length,
    });
  }

  /** A person edited it: it says what it says now. What was known before is not heard again. */
  function readAnew(on: Channel, part: Part, fresh: Note[]): void {
    const known = new Set(part.notes.map((note) => note.id));
    emptyPart(on, part);
    seen.delete(part);
    const all: Note[] = [];
    readMore(on, part, all);
    for (const note of all) if (!known.has(note.id)) fresh.push(note);
  }

  /** Returns the number of the line after them. */
  function readLines(on: Channel, part: Part, text: string, first: number, fresh: Note[]): number {
    const at = now();
    const shown = path.relative(root, file(on.name, part.number));
    let line = first;
    for (const one of text.split('\n')) {
      if (one.trim() !== '') {
        const read = readNote(one, { channel: on.name, file: shown, line, at });
        if (!read.ok) report(read.problem);
        else if (addNote(on, part, read.note)) fresh.push(read.note);
      }
      line++;
    }
    return line;
  }

  function append(on: Channel, notes: readonly Note[], lines: readonly string[]): Set<number> {
    refresh(on);
    const used = new Set<number>();
    const left = untold(on, { notes, lines });
    if (left.notes !== notes) lieIn(on, notes, used);
    for (const batch of batches(left)) appendBatch(on, batch, used);
    return used;
  }

  /** `used`: gets the numbers of the files they lie in. */
  function appendBatch(on: Channel, batch: Batch, used: Set<number>): void {
    let left = batch;
    let again = false;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const last = current(on);
      const before = seen.get(last) ?? UNSEEN;
      const text = left.lines.join('');
      const bytes = Buffer.from(before.torn || again ? `\n${text}` : text);
      const stamp = appendTo(file(on.name, last.number), bytes);
      if (stamp === undefined) {
        refresh(on);
        continue;
      }
      if (!before.torn && !again && grewBy(before.stamp, stamp, bytes.length)) {
        // It was not full, so it had no successor.
        believe(on, last, left.notes, { ...before, stamp }, bytes);
        return void used.add(last.number);
      }
      refresh(on);
      again = true;
      // It had a successor by then: those who read this one to its end may have missed ours.
      if (disk.stamp(file(on.name, last.number + 1)) !== undefined) continue;
      const missing = untold(on, left);
      if (missing.notes.length === 0) return lieIn(on, batch.notes, used);
      left = missing; // our first line was glued to the torn end of somebody who died just before
    }
    throw new Error(`notes on ${on.name} could not be told in ${MOST_TRIES} tries`);
  }

  /** The file to append to, made if need be. */
  function current(on: Channel): Part {
    for (;;) {
      const last = on.parts.at(-1);
      if (last !== undefined && !isFull(last)) return last;
      const name = file(on.name, last === undefined ? 1 : last.number + 1);
      if (last === undefined) disk.makeFolder(path.dirname(name));
      disk.create(name, ''); // false: another was faster, which is as good
      refresh(on);
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

  /** Nobody wrote in between: what lies there is what we wrote. */
  function believe(on: Channel, part: Part, notes: readonly Note[], before: Seen, bytes: Buffer): void {
    const fresh = notes.filter((note) => addNote(on, part, note));
    seen.set(part, {
      stamp: before.stamp,
      offset: before.offset + bytes.length,
      line: before.line + notes.length,
      tail: lastBytes(bytes.length >= TAIL_BYTES ? bytes : Buffer.concat([before.tail, bytes])),
      torn: false,
    });
    hear(on, fresh);
  }
}

interface Batch {
  notes: readonly Note[];
  lines: readonly string[];
}

/** Those that were not told before; the same ones, mostly. */
function untold(on: Channel, batch: Batch): Batch {
  const { notes, lines } = batch;
  if (!notes.some((note) => partWith(on, note.id) !== undefined)) return batch;
  const isNew = (_: unknown, i: number): boolean => partWith(on, notes[i]!.id) === undefined;
  return { notes: notes.filter(isNew), lines: lines.filter(isNew) };
}

function lieIn(on: Channel, notes: readonly Note[], used: Set<number>): void {
  for (const note of notes) {
    const number = partWith(on, note.id);
    if (number !== undefined) used.add(number); // undefined: it has expired already, or is not told yet
  }
}

/** As many at once as one append may write. */
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
