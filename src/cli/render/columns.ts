/**
 * How many columns of a terminal a text takes, and as much of it as fits. Letters of East Asian scripts and pictures take two, accents that
 * stand on another letter none; nothing is cut in the middle of a character.
 */
export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let sum = 0;
  for (const char of text) sum += columnsOfOne(char);
  return sum;
}

/** Its beginning, at most this wide. */
export function cutTo(text: string, columns: number): string {
  if (NARROW.test(text)) return text.slice(0, Math.max(0, columns));
  let left = columns;
  let end = 0;
  for (const char of text) {
    left -= columnsOfOne(char);
    if (left < 0) break;
    end += char.length;
  }
  return text.slice(0, end);
}

/** Nearly all there is: Latin, Greek, Cyrillic, and the lines, arrows and marks we draw with. */
const NARROW = /^[\u0000-\u02ff\u0370-\u0482\u048a-\u0590\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*$/;
const NONE = /^(?:\p{M}|\u200d)$/u;
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

function columnsOfOne(char: string): number {
  return NONE.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
}
