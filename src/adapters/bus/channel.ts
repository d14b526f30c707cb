/**
 * A channel in memory: its newest notes in order, in parts that are laid to rest when newer ones fill the memory, and dropped as a whole when all
 * in them has expired, and for each reader what it has done with. A reader's mark in a part is how far everything is done, and what is done beyond that: priorities let a
 * reader finish later notes first.
 */
import { print53 } from '../../domain/task/id.js';
import { NOTE_PRIORITIES, NOTE_TTL_MS, type Note, type NotePriority } from '../../domain/coordination/note.js';
import { resting, type Resting } from './resting.js';

export interface Part {
  number: number;
  /** None while it rests. */
  notes: Note[];
  resting?: Resting;
  /** When the last of its notes need not be kept any more. */
  expires: string;
}

interface Mark {
  /** All notes before this index are done. */
  upTo: number;
  /** Ids of notes after it that are done. */
  also: Set<string>;
}

export interface Reader {
  name: string;
  marks: Map<number, Mark>;
  /** Counts its steps forward. */
  moves: number;
  /** It did not move while somebody waited for it: so many steps it had made then. */
  asleepAt?: number;
}

export interface Channel {
  name: string;
  parts: Part[];
  /** Which part holds a note, of those that do not rest. */
  where: Map<string, number>;
  readers: Map<string, Reader>;
  hearers: Set<(note: Note) => void>;
}

const NEVER = '~';

export function channel(name: string): Channel {
  return { name, parts: [], where: new Map(), readers: new Map(), hearers: new Set() };
}

/** The last part, or a new one after it. */
export function addPart(to: Channel, number: number): Part {
  const part: Part = { number, notes: [], expires: '' };
  to.parts.push(part);
  return part;
}

/** False if the note was told before. */
export function addNote(to: Channel, part: Part, note: Note): boolean {
  if (partWith(to, note.id) !== undefined) return false;
  to.where.set(note.id, part.number);
  part.notes.push(note);
  const expires = note.expires ?? weekAfter(note.at);
  if (expires > part.expires) part.expires = expires;
  return true;
}

/** The number of the part that holds this note. */
export function partWith(of: Channel, id: string): number | undefined {
  const number = of.where.get(id);
  if (number !== undefined || of.parts[0]?.resting === undefined) return number;
  const print = print53(id);
  return of.parts.find((part) => part.resting?.has(print))?.number;
}

export function sizeOf(part: Part): number {
  return part.resting?.size ?? part.notes.length;
}

/** From memory, or for a part that rests from its file. */
export function notesOf(part: Part): readonly Note[] {
  return part.resting?.notes() ?? part.notes;
}

/**
 * The last part stays in memory, and those before it as long as they have no more than `most` notes together with it; the oldest ones rest. `read`: the notes
 * that the file of a part has.
 */
export function rest(of: Channel, most: number, read: (part: Part) => Iterable<Note>): void {
  let awake = of.parts.at(-1)?.notes.length ?? 0;
  for (let p = of.parts.length - 2; p >= 0; p--) {
    const part = of.parts[p]!;
    if (part.resting !== undefined) return; // so do all before it
    awake += part.notes.length;
    if (awake <= most) continue;
    const { notes } = part;
    part.resting = resting(notes, () => read(part));
    for (const { id } of notes) of.where.delete(id);
    part.notes = [];
  }
}

/** A note that says nothing of its end is kept this long, and then for as long as its neighbours are. */
function weekAfter(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? NEVER : new Date(ms + NOTE_TTL_MS).toISOString();
}

/** Takes the notes out, so that the part can be filled anew. What readers have done stays done. */
export function emptyPart(of: Channel, part: Part): void {
  delete part.resting;
  for (const reader of of.readers.values()) {
    const mark = reader.marks.get(part.number);
    if (mark === undefined) continue;
    for (const note of part.notes.slice(0, mark.upTo)) mark.also.add(note.id);
    mark.upTo = 0;
  }
  for (const note of part.notes) of.where.delete(note.id);
  part.notes = [];
  part.expires = '';
}

/** Takes away the first part if all in it has expired and others follow. */
export function dropExpired(of: Channel, now: string): Part | undefined {
  const [first, second] = of.parts;
  if (first === undefined || second === undefined || first.expires >= now) return undefined;
  dropPart(of, first);
  return first;
}

export function dropPart(of: Channel, part: Part): void {
  emptyPart(of, part);
  of.parts.splice(of.parts.indexOf(part), 1);
  for (const reader of of.readers.values()) reader.marks.delete(part.number);
}

export function hear(of: Channel, notes: readonly Note[]): void {
  if (of.hearers.size === 0) return;
  for (const note of notes) for (const one of of.hearers) one(note);
}

export function readerOf(of: Channel, name: string): Reader {
  let reader = of.readers.get(name);
  if (reader === undefined) of.readers.set(name, (reader = { name, marks: new Map(), moves: 0 }));
  return reader;
}

export function markOf(reader: Reader, part: number): Mark {
  let mark = reader.marks.get(part);
  if (mark === undefined) reader.marks.set(part, (mark = { upTo: 0, also: new Set() }));
  return mark;
}

export function unread(of: Channel, reader: Reader, now: string, limit = Infinity): Note[] {
  const found: Record<NotePriority, Note[]> = { critical: [], high: [], normal: [], low: [] };
  for (const part of of.parts) {
    const mark = markOf(reader, part.number);
    if (mark.upTo === sizeOf(part)) continue;
    const notes = notesOf(part);
    moveOn(notes, mark, reader.name, now);
    for (let i = mark.upTo; i < notes.length; i++) {
      const note = notes[i]!;
      if (isFor(note, reader.name, now) && !mark.also.has(note.id)) found[note.priority].push(note);
    }
  }
  const all = NOTE_PRIORITIES.flatMap((priority) => found[priority]);
  return all.length > limit ? all.slice(0, limit) : all;
}

/** False if there was nothing new in it. */
export function done(of: Channel, reader: Reader, ids: readonly string[], now: string): boolean {
  const touched = new Set<Mark>();
  for (const id of ids) {
    const number = partWith(of, id);
    if (number === undefined) continue; // it expired meanwhile
    const mark = markOf(reader, number);
    mark.also.add(id);
    touched.add(mark);
  }
  for (const part of of.parts) {
    const mark = reader.marks.get(part.number);
    if (mark !== undefined && touched.has(mark)) moveOn(notesOf(part), mark, reader.name, now);
  }
  if (touched.size > 0) reader.moves++;
  return touched.size > 0;
}

/** How much is before it, at most. */
export function lag(of: Channel, reader: Reader): number {
  let notes = 0;
  for (const part of of.parts) {
    const mark = reader.marks.get(part.number);
    notes += sizeOf(part) - (mark === undefined ? 0 : mark.upTo + mark.also.size);
  }
  return notes;
}

function moveOn(notes: readonly Note[], mark: Mark, reader: string, now: string): void {
  for (; mark.upTo < notes.length; mark.upTo++) {
    const note = notes[mark.upTo]!;
    if (!mark.also.delete(note.id) && isFor(note, reader, now)) return;
  }
}

function isFor(note: Note, reader: string, now: string): boolean {
  return (note.to === undefined || note.to === reader) && (note.expires === undefined || note.expires >= now);
}

export function newest(of: Channel, now: string, last = Infinity): Note[] {
  const found: Note[] = [];
  for (let p = of.parts.length - 1; p >= 0 && found.length < last; p--) {
    const notes = notesOf(of.parts[p]!);
    for (let i = notes.length - 1; i >= 0 && found.length < last; i--) {
      const note = notes[i]!;
      if (note.expires === undefined || note.expires >= now) found.push(note);
    }
  }
  return found.reverse();
}

/** In the order of each channel's first note. */
export function byChannel(notes: readonly Note[]): Iterable<[string, readonly Note[]]> {
  const first = notes[0]?.channel;
  if (first === undefined) return [];
  if (notes.every((note) => note.channel === first)) return [[first, notes]];
  const found = new Map<string, Note[]>();
  for (const note of notes) {
    const own = found.get(note.channel);
    if (own === undefined) found.set(note.channel, [note]);
    else own.push(note);
  }
  return found;
}
