/**
 * Reads and writes board values. All quoting is done here, so that a written value reads back as
 * the same value.
 */
import type { Value } from './item.js';

/** An unquoted value: `true`, `false` and plain numbers get their type; everything else is text. */
export function readBare(raw: string): Value {
  if (raw === 'true') return true;
  if (raw === 'false') return false;
  return /^-?\d+(?:\.\d+)?$/.test(raw) && String(Number(raw)) === raw ? Number(raw) : raw;
}

interface Quoted {
  value: string;
  /** Just after the closing quote. */
  end: number;
}

/** Reads `"…"`, `'…'` or backticks from `at` on; undefined if they are not closed on this line. */
export function readQuoted(line: string, at: number): Quoted | undefined {
  return line[at] === '`' ? readTicked(line, at) : readEscaped(line, at);
}

/** A value on one line. `inline` values share their line and must not look like a key. */
export function writeScalar(value: Value, inline = false): string {
  if (typeof value !== 'string') return String(value);
  const safe = inline ? /^[^\s"'`|;][^\s"`]*$/.test(value) && !/:$/.test(value) : isBareSafe(value);
  return safe && typeof readBare(value) === 'string' ? value : `"${value.replace(/[\\"]/g, '\\$&')}"`;
}

/** A title in double quotes, or in backticks if that avoids escapes. */
export function writeTitle(title: string, quote?: '"' | '`'): string {
  const flat = title.replace(/\s*[\r\n]+\s*/g, ' ');
  const tickable = !flat.includes('`') && flat !== '';
  if (tickable && (quote === '`' || (quote === undefined && flat.includes('"')))) return `\`${flat}\``;
  return `"${flat.replace(/[\\"]/g, '\\$&')}"`;
}

/** Normalizes text for a block: line ends become `\n`, trailing blank lines are dropped. */
export function blockText(value: string): string {
  const lines = value.replace(/\r\n?/g, '\n').split('\n');
  while (lines.length > 1 && isBlank(lines.at(-1)!)) lines.pop();
  return lines.join('\n');
}

/** Removes `columns` of indentation from a line of a `key: |` value. A tab counts as two. */
export function stripIndent(line: string, columns: number): string {
  let at = 0;
  let column = 0;
  while (column < columns && at < line.length) {
    if (line[at] === ' ') column += 1;
    else if (line[at] === '\t') column += 2;
    else break;
    at += 1;
  }
  return line.slice(at);
}

/**
 * Keys with a meaning on every board. Where a word with a colon could also belong to a title
 * (`Fix: the login`), only these count as keys. Only these may be written without a space: `id:c1`.
 */
const KNOWN_KEYS =
  'id title priority stakeholders tags parent depends_on dependencies requirements schedule completed skipped completed_at failed_at description prompt command approval_required'.split(
    ' ',
  );

export function isKnownKey(key: string): boolean {
  return KNOWN_KEYS.includes(key);
}

/** A known key with its value right after the colon. `title://` is an address. */
export const TIGHT_KEY = `(${KNOWN_KEYS.join('|')}):(?=[^\\s/:])`;

/**
 * Where the comment `; …` of a value starts, with the blanks before it; `end` if there is none. A
 * command keeps its semicolons, because half of a command must never run.
 */
export function commentStart(text: string, from: number, end: number, key: string): number {
  if (key === 'command') return end;
  const part = text.slice(from, end);
  for (let at = part.indexOf(';'); at >= 0; at = part.indexOf(';', at + 1)) {
    if (!isBlankChar(text[from + at - 1]) || !(at + 1 === part.length || isBlankChar(part[at + 1]))) continue;
    let start = at;
    while (start > 0 && isBlankChar(part[start - 1])) start -= 1;
    return from + start;
  }
  return end;
}

export function isKey(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(text);
}

export function isBlankChar(char: string | undefined): boolean {
  return char === ' ' || char === '\t';
}

export function isBlank(line: string): boolean {
  for (let i = 0; i < line.length; i++) if (!isBlankChar(line[i])) return false;
  return true;
}

function readEscaped(line: string, at: number): Quoted | undefined {
  const quote = line[at]!;
  const close = line.indexOf(quote, at + 1);
  if (close < 0) return undefined;
  const plain = line.slice(at + 1, close);
  if (!plain.includes('\\')) return { value: plain, end: close + 1 };
  let value = '';
  for (let i = at + 1; i < line.length; i++) {
    const char = line[i]!;
    if (char === quote) return { value, end: i + 1 };
    const next = line[i + 1];
    if (char === '\\' && (next === quote || next === '\\')) {
      value += next;
      i += 1;
    } else value += char;
  }
  return undefined;
}

function readTicked(line: string, at: number): Quoted | undefined {
  let width = 1;
  while (line[at + width] === '`') width += 1;
  for (let i = at + width; i < line.length; i++) {
    if (line[i] !== '`') continue;
    let run = 1;
    while (line[i + run] === '`') run += 1;
    if (run === width) return { value: line.slice(at + width, i), end: i + run };
    i += run - 1;
  }
  return undefined;
}

function isBareSafe(value: string): boolean {
  return value !== '' && value === value.trim() && !/^["'`|;]|[ \t];(?:[ \t]|$)/.test(value);
}
