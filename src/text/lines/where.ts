/**
 * From an offset in a text to a place a person can go to: file, line, column and the source line for the caret. Only
 * computed once something is wrong, so it may walk the text. The quoted line is made safe to print: a hostile file must
 * not reach the terminal through its own error message.
 */
import type { Where } from '../../domain/problem.js';

/** Longer source lines are cut, or left out where the caret would be past the cut. */
const MAX_SOURCE = 240;

/** `offset` counts UTF-16 units; one past the end is the end of the text. Lines and columns are 1-based. */
export function whereAt(file: string, text: string, offset: number): Where {
  const at = Math.max(0, Math.min(offset, text.length));
  const start = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  return whereOnLine(file, text, lineNumber(text, at), start, at);
}

/** The same for a caller who knows the line and where it starts: it costs the same however long text and line are. */
export function whereOnLine(file: string, text: string, line: number, start: number, at: number): Where {
  const mark = start === 0 && text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const column = at - start - (at > 0 ? mark : 0) + 1;
  if (column > MAX_SOURCE) return { file, line, column };
  const head = text.slice(start + mark, start + mark + MAX_SOURCE + 2);
  const [source] = head.split('\n', 1);
  const whole = source!.length < head.length || start + mark + head.length === text.length;
  const shown = whole ? source!.replace(/\r$/, '') : source!;
  return {
    file,
    line,
    column,
    source: printable(shown.length > MAX_SOURCE ? `${shown.slice(0, MAX_SOURCE)}…` : shown),
  };
}

/**
 * The same for a caller who asks often about one text: its lines are found once, at the first question, so that a file
 * with a flaw on every line costs no more than its length.
 */
export function placesIn(file: string, text: string): (offset: number) => Where {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    const at = Math.max(0, Math.min(offset, text.length));
    const line = lineAt(starts, at);
    return whereOnLine(file, text, line, starts[line - 1]!, at);
  };
}

/** 1-based number of the line that holds this offset, by where each line starts. */
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

/** The 1-based number of the line that holds this offset. */
function lineNumber(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** Characters that move the cursor, hide, or reorder text. One stands for one, so that the caret stays in place. */
const UNSEEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function printable(line: string): string {
  return line.replace(UNSEEN, '\uFFFD');
}
