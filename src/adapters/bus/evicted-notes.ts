/**
 * The notes of an evicted segment. Memory keeps only a 53-bit hash of each id, to recognise
 * duplicates. The notes themselves are read from the file on demand, at their original positions:
 * lines that a person deleted since are placeholders, and later lines do not count.
 */
import { print53 } from '../../domain/task/id.js';
import type { Note } from '../../domain/coordination/note.js';

export interface EvictedNotes {
  size: number;
  last: string;
  has(print: number): boolean;
  /** Reads the notes from the file, without caching. Index and order are as before eviction. */
  notes(): readonly Note[];
}

/** `read` returns the notes that the segment's file has now. */
export function evictedNotes(notes: readonly Note[], read: () => Iterable<Note>): EvictedNotes {
  const prints = Float64Array.from(notes, (note) => print53(note.id));
  const sorted = prints.slice().sort();
  return {
    size: prints.length,
    last: notes.at(-1)?.id ?? '',
    has: (print) => includes(sorted, print),
    notes() {
      const places = new Map<number, number>();
      for (const [place, print] of prints.entries()) places.set(print, place);
      const notes: Note[] = Array.from(prints, () => GONE);
      for (const note of read()) {
        const place = places.get(print53(note.id));
        if (place !== undefined) notes[place] = note;
      }
      return notes;
    },
  };
}

/** Placeholder for a note that was deleted from the file. It counts as expired for every reader. */
const GONE: Note = {
  id: '',
  channel: '',
  from: '',
  at: '',
  priority: 'low',
  expires: '',
  body: { type: 'said', text: '' },
};

function includes(sorted: Float64Array, wanted: number): boolean {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const value = sorted[middle]!;
    if (value === wanted) return true;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
