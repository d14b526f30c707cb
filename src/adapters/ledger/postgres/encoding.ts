/**
 * Texts as PostgreSQL can hold them. It takes neither the character NUL nor half of a surrogate
 * pair; a text with one of them is written as JSON after a mark.
 */
export const MARK = '\u0001';
// eslint-disable-next-line no-control-regex
const UNFIT = /\u0000|^\u0001/;

export function encode(text: string): string {
  return UNFIT.test(text) || !isWellFormed(text) ? `${MARK}${escaped(text)}` : text;
}

export function decode(text: string): string {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(1)) as string) : text;
}

/** JSON.stringify escapes control characters and halves of pairs. */
function escaped(text: string): string {
  return JSON.stringify(text);
}

function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}
