/**
 * The bus: notes on channels, for many readers. A reader that crashes reads again from its cursor, so a note is read at least once by
 * each reader, and never lost before it expires. One contract suite runs on every adapter.
 *
 * Promises:
 * - What a resolved `tell` wrote survives a crash of the process; with `durable` also a power cut. The same id is told once.
 * - A reader sees all notes of a channel, the urgent ones first: critical before high before normal before low, and within
 *   one priority in the order they were told.
 * - A slow reader slows the tellers (`tell` resolves later) and loses nothing.
 */
import type { Note } from '../domain/note.js';
import type { Problem } from '../domain/problem.js';

export interface Bus {
  /** Many at once cost little more than one. A problem: none of them was told. */
  tell(notes: readonly Note[], options?: { durable?: boolean }): Promise<Problem | undefined>;
  /** What this reader has not done with, most urgent first. Expired notes are left out. */
  unread(channel: string, reader: string, limit?: number): Note[];
  /** These need not be shown to this reader again. */
  done(channel: string, reader: string, ids: readonly string[]): Promise<void>;
  /** All notes of a channel that are still kept, oldest first, for people and views. `last`: only so many of the newest. */
  read(channel: string, last?: number): Note[];
  channels(): string[];
  /** Called in this process right after a note of the channel was told here, or was seen to be told by another process. Returns how to stop. */
  subscribe(channel: string, hear: (note: Note) => void): () => void;
  /** Looks for what other processes told since the last look; cheap when nothing changed. */
  refresh(): void;
}
