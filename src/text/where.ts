/**
 * From an offset in a text to a place a person can go to: file, line, column and the source line for the caret. Only
 * computed once something is wrong, so it may walk the text. The quoted line is made safe to print: a hostile file must
 * not reach the terminal through its own error message.
 */
import type { Where } from '../domain/problem.js';

/** Longer source lines are cut, or left out where the caret would be past the cut. */
const MAX_SOURCE = 240;

/** `offset` counts UTF-16 units; one past the end is the end of the text. Lines and columns are 1-based. */
export function whereAt(file: string, text: string, offset: number): Where {
  const at = Math.max(0, Math.min(offset, text.length));
  const start = lineStart(text, at);
  const end = lineEnd(text, at);
  const column = at - start - (start === 0 && text.startsWith('\uFEFF') && at > 0 ? 1 : 0) + 1;
  const where: Where = { file, line: lineNumber(text, at), column };
  if (column <= MAX_SOURCE) {
    const line = text.slice(start, end).replace(/^\uFEFF/, '');
    where.source = printable(line.length > MAX_SOURCE ? `${line.slice(0, MAX_SOURCE)}…` : line);
  }
  return where;
}

/** The 1-based number of the line that holds this offset. */
function lineNumber(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  const stop = end < 0 ? text.length : end;
  return stop > 0 && text[stop - 1] === '\r' ? Math.max(stop - 1, lineStart(text, offset)) : stop;
}

/** Characters that move the cursor, hide, or reorder text. One stands for one, so that the caret stays in place. */
const UNSEEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function printable(line: string): string {
  return line.replace(UNSEEN, '\uFFFD');
}
