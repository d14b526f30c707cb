/**
 * Our own colours in a text. They carry a random mark and become escape codes only when the text is
 * written, so text from models and files cannot control the terminal.
 */
export const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

const SECRET = Math.random().toString(36).slice(2, 10);
export const SIGNS = new RegExp(`\u0001${SECRET}(\\d+)\u0002`);

export function sign(code: number): string {
  return `\u0001${SECRET}${code}\u0002`;
}

/** Turns our marks into escape codes and makes everything else printable. */
export function painted(line: string): string {
  return line
    .split(SIGNS)
    .map((part, i) => (i % 2 === 1 ? `\u001b[${part}m` : printable(part)))
    .join('');
}

/** Control, bidi and invisible characters as escapes; newline and tab stay. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => (char === '\r' ? '' : escaped(char)));
}

/** One line of JSON with the same value, without a character that a terminal acts on. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escaped);
}

// eslint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The text without our colour marks. */
export function bare(text: string): string {
  return text.replaceAll(new RegExp(SIGNS, 'g'), '');
}
