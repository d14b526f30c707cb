/**
 * A channel in memory: its notes in order, and the progress of each reader. Notes are grouped in
 * segments; old segments are evicted from memory, and dropped once all their notes have expired.
 */
import { print53 } from '../../domain/task/id.js';
import { NOTE_PRIORITIES, NOTE_TTL_MS, type Note, type NotePriority } from '../../domain/coordination/note.js';
import { evictedNotes, type EvictedNotes } from './evicted-notes.js';

export interface Segment {
  number: number;
  /** Empty while evicted. */
  notes: Note[];
  evicted?: EvictedNotes;
  expires: string;
}

/**
 * A reader's progress in one segment. Readers take urgent notes first, so notes can be done out of
 * order.
 */
interface Mark {
  /** All notes before this index are done. */
  upTo: number;
  /** Ids of notes from that index on that are done. */
  also: Set<string>;
}

export interface Reader {
  name: string;
  marks: Map<number, Mark>;
  /** Increases with every step forward. */
  moves: number;
  /** The value of `moves` when a writer last waited for this reader without success. */
  stalledAt?: number;
}

export interface Channel {
  name: string;
  segments: Segment[];
  segmentOf: Map<string, number>;
  readers: Map<string, Reader>;
  subscribers: Set<(note: Note) => void>;
}

const NEVER = '~';

export function createChannel(name: string): Channel {
  return { name, segments: [], segmentOf: new Map(), readers: new Map(), subscribers: new Set() };
}

export function addSegment(channel: Channel, number: number): Segment {
  const segment: Segment = { number, notes: [], expires: '' };
  channel.segments.push(segment);
  return segment;
}

/** False if the channel already has a note with this id. */
export function addNote(channel: Channel, segment: Segment, note: Note): boolean {
  if (segmentWith(channel, note.id) !== undefined) return false;
  channel.segmentOf.set(note.id, segment.number);
  segment.notes.push(note);
  const expires = note.expires ?? weekAfter(note.at);
  if (expires > segment.expires) segment.expires = expires;
  return true;
}

export function segmentWith(channel: Channel, id: string): number | undefined {
  const number = channel.segmentOf.get(id);
  if (number !== undefined || channel.segments[0]?.evicted === undefined) return number;
  const print = print53(id);
  return channel.segments.find((segment) => segment.evicted?.has(print))?.number;
}

export function sizeOf(segment: Segment): number {
  return segment.evicted?.size ?? segment.notes.length;
}

export function notesOf(segment: Segment): readonly Note[] {
  return segment.evicted?.notes() ?? segment.notes;
}

/**
 * Evicts the oldest segments, so that at most `maxLoaded` notes stay in memory. The last segment
 * always stays. `read` returns the notes in a segment's file.
 */
export function evict(channel: Channel, maxLoaded: number, read: (segment: Segment) => Iterable<Note>): void {
  let loaded = channel.segments.at(-1)?.notes.length ?? 0;
  for (let p = channel.segments.length - 2; p >= 0; p--) {
    const segment = channel.segments[p]!;
    if (segment.evicted !== undefined) return; // all earlier ones are evicted too
    loaded += segment.notes.length;
    if (loaded <= maxLoaded) continue;
    const { notes } = segment;
    segment.evicted = evictedNotes(notes, () => read(segment));
    for (const { id } of notes) channel.segmentOf.delete(id);
    segment.notes = [];
  }
}

/** Default expiry of a note without one. */
function weekAfter(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? NEVER : new Date(ms + NOTE_TTL_MS).toISOString();
}

/**
 * Removes the notes so that the segment can be read again. Readers keep their progress by note id.
 */
export function emptySegment(channel: Channel, segment: Segment): void {
  delete segment.evicted;
  for (const reader of channel.readers.values()) {
    const mark = reader.marks.get(segment.number);
    if (mark === undefined) continue;
    for (const note of segment.notes.slice(0, mark.upTo)) mark.also.add(note.id);
    mark.upTo = 0;
  }
  for (const note of segment.notes) channel.segmentOf.delete(note.id);
  segment.notes = [];
  segment.expires = '';
}

/** Drops the first segment if all its notes have expired and another segment follows. */
export function dropExpired(channel: Channel, now: string): Segment | undefined {
  const [first, second] = channel.segments;
  if (first === undefined || second === undefined || first.expires >= now) return undefined;
  dropSegment(channel, first);
  return first;
}

export function dropSegment(channel: Channel, segment: Segment): void {
  emptySegment(channel, segment);
  channel.segments.splice(channel.segments.indexOf(segment), 1);
  for (const reader of channel.readers.values()) reader.marks.delete(segment.number);
}

export function notify(channel: Channel, notes: readonly Note[]): void {
  if (channel.subscribers.size === 0) return;
  for (const note of notes) for (const subscriber of channel.subscribers) subscriber(note);
}

export function readerOf(channel: Channel, name: string): Reader {
  let reader = channel.readers.get(name);
  if (reader === undefined) channel.readers.set(name, (reader = { name, marks: new Map(), moves: 0 }));
  return reader;
}

export function markOf(reader: Reader, segment: number): Mark {
  let mark = reader.marks.get(segment);
  if (mark === undefined) reader.marks.set(segment, (mark = { upTo: 0, also: new Set() }));
  return mark;
}

export function unread(channel: Channel, reader: Reader, now: string, limit = Infinity): Note[] {
  const byPriority: Record<NotePriority, Note[]> = { critical: [], high: [], normal: [], low: [] };
  for (const segment of channel.segments) {
    const mark = markOf(reader, segment.number);
    if (mark.upTo === sizeOf(segment)) continue;
    const notes = notesOf(segment);
    advance(notes, mark, reader.name, now);
    for (let i = mark.upTo; i < notes.length; i++) {
      const note = notes[i]!;
      if (isUnreadBy(note, reader.name, now) && !mark.also.has(note.id)) byPriority[note.priority].push(note);
    }
  }
  const all = NOTE_PRIORITIES.flatMap((priority) => byPriority[priority]);
  return all.length > limit ? all.slice(0, limit) : all;
}

/** False if none of the ids belongs to this channel. */
export function markDone(channel: Channel, reader: Reader, ids: readonly string[], now: string): boolean {
  const touched = new Set<Mark>();
  for (const id of ids) {
    const number = segmentWith(channel, id);
    if (number === undefined) continue; // it has expired
    const mark = markOf(reader, number);
    mark.also.add(id);
    touched.add(mark);
  }
  for (const segment of channel.segments) {
    const mark = reader.marks.get(segment.number);
    if (mark !== undefined && touched.has(mark)) advance(notesOf(segment), mark, reader.name, now);
  }
  if (touched.size > 0) reader.moves++;
  return touched.size > 0;
}

/** Upper bound of the notes this reader has not read. */
export function lag(channel: Channel, reader: Reader): number {
  let notes = 0;
  for (const segment of channel.segments) {
    const mark = reader.marks.get(segment.number);
    notes += sizeOf(segment) - (mark === undefined ? 0 : mark.upTo + mark.also.size);
  }
  return notes;
}

function advance(notes: readonly Note[], mark: Mark, reader: string, now: string): void {
  for (; mark.upTo < notes.length; mark.upTo++) {
    const note = notes[mark.upTo]!;
    if (!mark.also.delete(note.id) && isUnreadBy(note, reader, now)) return;
  }
}

function isUnreadBy(note: Note, reader: string, now: string): boolean {
  return (note.to === undefined || note.to === reader) && (note.expires === undefined || note.expires >= now);
}

export function newest(channel: Channel, now: string, last = Infinity): Note[] {
  const result: Note[] = [];
  for (let s = channel.segments.length - 1; s >= 0 && result.length < last; s--) {
    const notes = notesOf(channel.segments[s]!);
    for (let i = notes.length - 1; i >= 0 && result.length < last; i--) {
      const note = notes[i]!;
      if (note.expires === undefined || note.expires >= now) result.push(note);
    }
  }
  return result.reverse();
}

/** Groups notes by channel, in the order of each channel's first note. */
export function byChannel(notes: readonly Note[]): Iterable<[string, readonly Note[]]> {
  const first = notes[0]?.channel;
  if (first === undefined) return [];
  if (notes.every((note) => note.channel === first)) return [[first, notes]];
  const groups = new Map<string, Note[]>();
  for (const note of notes) {
    const group = groups.get(note.channel);
    if (group === undefined) groups.set(note.channel, [note]);
    else group.push(note);
  }
  return groups;
}
