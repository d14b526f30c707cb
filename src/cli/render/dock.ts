/**
 * The bottom rows of a terminal: progress, a prompt, a half-finished line of a stream. Everything
 * else is printed above them and scrolls away. Losing a redraw affects only the display.
 */
import { fitted, wrapped } from './layout.js';
import { painted } from './paint.js';
import type { Output } from '../process/io.js';

export interface Cursor {
  row: number;
  column: number;
}

export interface Dock {
  /** Replaces the bottom rows. The cursor is placed in them, or hidden. */
  show(rows: readonly string[], cursor?: Cursor): void;
  /** Writes whole lines above the bottom rows. */
  print(stream: Output, text: string): void;
  /** Adds to a text that arrives in parts; it is wrapped at words. */
  stream(stream: Output, text: string): void;
  endStream(): void;
  /** Removes the bottom rows. */
  close(): void;
}

export function dock(screen: Output, width: () => number): Dock {
  let rows: readonly string[] = [];
  let cursor: Cursor | undefined;
  /** The row of the cursor, counted from the first row that is drawn. */
  let at = 0;
  let isDrawn = false;
  let partial: { stream: Output; text: string } | undefined;
  /** A message has cut a line of the stream in the middle. */
  let isCut = false;

  return {
    show(next, place) {
      rows = next;
      cursor = place;
      screen.write(erased() + drawn());
    },
    print(stream, text) {
      const before = erased() + finished();
      if (stream === screen) return void screen.write(before + text + drawn());
      screen.write(before);
      stream.write(text);
      screen.write(drawn());
    },
    stream(stream, text) {
      const before = erased();
      const lines = ((partial?.text ?? '') + (isCut ? text.replace(/^ +/, '') : text)).split('\n');
      isCut = false;
      const last = lines.pop()!;
      const tail = wrapped(last, Math.max(8, width() - 1), '');
      const done = [...lines.flatMap((line) => wrapped(line, Math.max(8, width() - 1), '')), ...tail.slice(0, -1)];
      const rest = tail.at(-1)!;
      partial = { stream, text: rest + (/ +$/.exec(last)?.[0] ?? '') };
      screen.write(before);
      if (done.length > 0) stream.write(done.map((line) => `${painted(line.trimEnd())}\n`).join(''));
      screen.write(drawn());
    },
    endStream() {
      if (partial !== undefined) screen.write(erased() + finished() + drawn());
      isCut = false;
    },
    close() {
      rows = [];
      cursor = undefined;
      screen.write(erased() + finished() + SHOW_CURSOR);
    },
  };

  /** The half-finished line, as a whole line. */
  function finished(): string {
    const text = partial?.text.trimEnd() ?? '';
    const isEmpty = partial === undefined || text === '';
    partial = undefined;
    isCut ||= !isEmpty;
    return isEmpty ? '' : `${painted(text)}\n`;
  }

  function erased(): string {
    const up = isDrawn && at > 0 ? `\u001b[${at}A` : '';
    const text = isDrawn ? `\r${up}\u001b[0J` : '';
    isDrawn = false;
    at = 0;
    return text;
  }

  function drawn(): string {
    const begun = partial === undefined || partial.text === '' ? [] : [partial.text];
    const all = [...begun, ...rows];
    if (all.length === 0) return SHOW_CURSOR;
    isDrawn = true;
    const text = all.map((row) => painted(fitted(row, width() - 1))).join('\r\n');
    const row = cursor === undefined ? all.length - 1 : begun.length + cursor.row;
    at = row;
    const up = all.length - 1 - row;
    const column = cursor === undefined ? 0 : cursor.column;
    const place = `\r${up > 0 ? `\u001b[${up}A` : ''}${column > 0 ? `\u001b[${column}C` : ''}`;
    return `${HIDE_CURSOR}\u001b[?7l${text}\u001b[?7h${place}${cursor === undefined ? '' : SHOW_CURSOR}`;
  }
}

const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';
