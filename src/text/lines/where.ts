/**
 * Converts an offset in a text to file, line, column and source line. It is computed only for
 * errors, so it may walk the text. The quoted line is made safe to print, because a hostile file
 * must not send control characters to the terminal.
 */
import type { Where } from '../../domain/problem.js';

/** Longer source lines are cut, or left out if the caret would be beyond the cut. */
const MAX_SOURCE = 240;

/**
 * `offset` counts UTF-16 units; one past the end is the end of the text. Lines and columns are
 * 1-based.
 */
export function whereAt(file: string, text: string, offset: number): Where {
  const at = Math.max(0, Math.min(offset, text.length));
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return whereOnLine(file, text, lineNumber(text, at), start, at);
}

/**
 * For a caller that knows the line and where it starts. The cost does not depend on the length of
 * the text.
 */
export function whereOnLine(file: string, text: string, line: number, start: number, at: number): Where {
  const mark = start === 0 && text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const column = at - start - (at > 0 ? mark : 0) + 1;
  if (column > MAX_SOURCE) return { file, line, column };
  const head = text.slice(start + mark, start + mark + MAX_SOURCE + 2);
  const [source] = head.split('\n', 1);
  const isComplete = source!.length < head.length || start + mark + head.length === text.length;
  const shown = isComplete ? source!.replace(/\r$/, '') : source!;
  return {
    file,
    line,
    column,
    source: (shown.length > MAX_SOURCE ? `${shown.slice(0, MAX_SOURCE)}…` : shown).replace(INVISIBLE, '\uFFFD'),
  };
}

/** For many offsets of one text: its lines are found once, at the first call. */
export function placesIn(file: string, text: string): (offset: number) => Where {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    const at = Math.max(0, Math.min(offset, text.length));
    const line = lineAt(starts, at);
    return whereOnLine(file, text, line, starts[line - 1]!, at);
  };
}

/** The 1-based number of the line that contains this offset, given the start of each line. */
export function lineAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineNumber(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/**
 * Characters that move the cursor, hide or reorder text. Each is replaced by one, for the caret.
 */
const INVISIBLE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
