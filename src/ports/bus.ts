/**
 * Notes on channels, for many readers. After a crash a reader continues from its cursor, so each
 * reader gets a note at least once and loses none before it expires.
 */

// The contract suite checks these promises on every adapter:
// - A note survives a crash of the process once `tell` resolves, and a power cut with `durable`.
//   An id is stored once, whichever process publishes it, for as long as the first note is kept.
// - A reader sees all notes of a channel, first by priority (critical to low), then by arrival.
// - A slow reader delays `tell` and loses nothing. A reader that makes no progress while `tell`
//   waits for it counts as asleep and is ignored until it moves again.
import type { Note } from '../domain/coordination/note.js';
import type { Problem } from '../domain/problem.js';

export interface Bus {
  /**
   * Many notes cost little more than one. Returns a problem, and stores none of them, if a channel
   * name is invalid or a note is too long. Throws if the disk fails; some notes may then be stored,
   * and posting them again is safe.
   */
  tell(notes: readonly Note[], options?: { durable?: boolean }): Promise<Problem | undefined>;
  /**
   * Unfinished notes of this reader, most urgent first, without expired ones and those to others.
   */
  unread(channel: string, reader: string, limit?: number): Note[];
  /**
   * Marks notes as finished for this reader. A power cut may undo it; they are then shown again.
   */
  done(channel: string, reader: string, ids: readonly string[]): Promise<void>;
  /** All stored notes of a channel, oldest first. `last`: only this many of the newest. */
  read(channel: string, last?: number): Note[];
  /** All channels with notes, sorted by name. */
  channels(): string[];
  /**
   * Calls `hear` for each new note of the channel, from this process or another. `hear` must not
   * throw. Returns a function that unsubscribes.
   */
  subscribe(channel: string, hear: (note: Note) => void): () => void;
  /**
   * Reads notes of other processes since the last call. Cheap if nothing changed. Returns
   * unreadable lines, each once; as a promise if the notes are on another machine. `maxAgeMs`: a
   * look that is younger than this is enough.
   */
  refresh(options?: { maxAgeMs?: number }): Problem[] | Promise<Problem[]>;
  /**
   * Watches for notes of other processes from now on. Returns a function that stops watching.
   * `patience`: factor on the polling interval that makes up for missed file events.
   */
  follow(patience?: () => number): () => void;
}

/** A bus whose notes are on this machine. */
export interface NearBus extends Bus {
  refresh(): Problem[];
}
