/**
 * The bus: notes on channels, for many readers. A reader that crashes reads again from its cursor, so a note is read at least once by
 * each reader, and never lost before it expires. One contract suite runs on every adapter.
 *
 * Promises:
 * - What a resolved `tell` wrote survives a crash of the process; with `durable` also a power cut. The same id is told once, whoever
 *   tells it, for as long as the first telling is kept.
 * - A reader sees all notes of a channel, the urgent ones first: critical before high before normal before low, and within
 *   one priority in the order they were told.
 * - A slow reader slows the tellers (`tell` resolves later) and loses nothing. A reader that does not move at all while a teller
 *   waits for it counts as asleep: nobody waits for it again before it has moved.
 */
import type { Note } from '../domain/coordination/note.js';
import type { Problem } from '../domain/problem.js';

export interface Bus {
  /**
   * Many at once cost little more than one. A problem (a name that cannot be a channel, a note that is too long): none of them
   * was told. When the disk fails it throws, and some may have been told: telling them again is harmless.
   */
  tell(notes: readonly Note[], options?: { durable?: boolean }): Promise<Problem | undefined>;
  /** What this reader has not done with, most urgent first. Expired notes, and notes to others, are left out. */
  unread(channel: string, reader: string, limit?: number): Note[];
  /** These need not be shown to this reader again. A power cut may undo it: then they are shown again. */
  done(channel: string, reader: string, ids: readonly string[]): Promise<void>;
  /** All notes of a channel that are still kept, oldest first, for people and views. `last`: only so many of the newest. */
  read(channel: string, last?: number): Note[];
  /** Channels that something was ever told on, in order of name. */
  channels(): string[];
  /**
   * Called in this process right after a note of the channel was told here, or was seen to be told by another process. Must not
   * throw. Returns how to stop.
   */
  subscribe(channel: string, hear: (note: Note) => void): () => void;
  /** Looks for what other processes told since the last look; cheap when nothing changed. Lines that cannot be read, each told once. */
  refresh(): Problem[];
  /**
   * Looks by itself from now on, as soon as another process tells something. Returns how to stop. `patience`: how many times longer than usual
   * it may wait between the looks that make up for lost hints.
   */
  follow(patience?: () => number): () => void;
}
