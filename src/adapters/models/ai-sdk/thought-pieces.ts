/**
 * Thoughts in the chunks of chat completions. Text is joined. Entries of a list also come in
 * pieces: entries with the same index and type are joined in order.
 */
import { isMapping } from '../../../domain/mapping.js';
import { THOUGHT_FIELDS } from './prompt/answer-parts.js';

export interface ThoughtPieces {
  add(delta: object): number;
  /** Returns the data that goes back with the message. */
  complete(): Record<string, unknown> | undefined;
}

/** `kept`: the fields to keep; the others only count. */
export function thoughtPieces(kept: readonly string[]): ThoughtPieces {
  const fields: Record<string, unknown> = {};
  return {
    add(delta) {
      let size = 0;
      for (const name of THOUGHT_FIELDS) {
        const piece = (delta as Record<string, unknown>)[name];
        if (typeof piece !== 'string' && !Array.isArray(piece)) continue;
        size += typeof piece === 'string' ? piece.length : JSON.stringify(piece).length;
        if (kept.includes(name)) fields[name] = joined(fields[name], piece);
      }
      return size;
    },
    complete: () => (Object.keys(fields).length === 0 ? undefined : fields),
  };
}

function joined(before: unknown, piece: string | unknown[]): unknown {
  if (typeof piece === 'string') return typeof before === 'string' ? before + piece : piece;
  const list: unknown[] = Array.isArray(before) ? before : [];
  for (const entry of piece) addEntry(list, entry);
  return list;
}

function addEntry(list: unknown[], entry: unknown): void {
  if (!isMapping(entry)) return void list.push(entry);
  const last = list.at(-1);
  const isSame =
    isMapping(last) &&
    entry['index'] !== undefined &&
    last['index'] === entry['index'] &&
    last['type'] === entry['type'];
  if (!isSame) return void list.push({ ...entry });
  for (const [key, value] of Object.entries(entry)) {
    const isPiece = ['text', 'summary', 'data'].includes(key) && typeof value === 'string';
    if (isPiece) last[key] = `${typeof last[key] === 'string' ? last[key] : ''}${value}`;
    else if (value !== null && value !== undefined) last[key] = value;
  }
}
