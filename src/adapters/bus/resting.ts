/**
 * An old part of a channel, whose notes are no longer in memory: of each only a number that stands for its id is kept, so that a note is known
 * again when it is told twice; two ids with the same number are not met in practice. Whoever asks for the notes has them read from their file, as they were counted: what a person took out of it since is
 * passed over, and what came later does not count.
 */
import { print53 } from '../../domain/task/id.js';
import type { Note } from '../../domain/coordination/note.js';

export interface Resting {
  size: number;
  /** The id of the last note. */
  last: string;
  has(print: number): boolean;
  /** In their places. Read now, and kept nowhere. */
  notes(): readonly Note[];
}

/** `read`: the notes that the part's file has now. */
export function resting(notes: readonly Note[], read: () => Iterable<Note>): Resting {
  const prints = Float64Array.from(notes, (note) => print53(note.id));
  const sorted = prints.slice().sort();
  return {
    size: prints.length,
    last: notes.at(-1)?.id ?? '',
    has: (print) => isIn(sorted, print),
    notes() {
      const places = new Map<number, number>();
      for (const [place, print] of prints.entries()) places.set(print, place);
      const found: Note[] = Array.from(prints, () => GONE);
      for (const note of read()) {
        const place = places.get(print53(note.id));
        if (place !== undefined) found[place] = note;
      }
      return found;
    },
  };
}

/** Stands where a note was that nobody can read any more: for every reader it has expired. */
const GONE: Note = {
  id: '',
  channel: '',
  from: '',
  at: '',
  priority: 'low',
  expires: '',
  body: { type: 'said', text: '' },
};

function isIn(sorted: Float64Array, wanted: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const there = sorted[middle]!;
    if (there === wanted) return true;
    if (there < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
