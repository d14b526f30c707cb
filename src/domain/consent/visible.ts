/**
 * Text of agents as a person can judge it. Characters that a reader cannot see, or could mistake
 * for others, are shown as escapes: control, bidi and invisible characters, blank look-alikes, long
 * runs of blanks or empty lines, letters that imitate Latin ones, and text that looks like one of
 * these escapes. The same text always gives the same result.
 */

/** A run of blanks that is at least this wide could push the rest out of sight. */
const WIDE = 40;
const TAB_WIDTH = 8;
const EMPTY_LINES = 12;

export function visible(text: string): string {
  return imitations(text.replaceAll('\\u{', '\\u{5c}u{'))
    .replace(UNSEEN, escaped)
    .replace(/(\p{M}{3})(\p{M}+)/gu, (_, some: string, more: string) => some + Array.from(more, escaped).join(''))
    .replace(/[ \t]{5,}/g, (run) => (widthOf(run) < WIDE ? run : repeated(run)))
    .replace(/\n{13,}/g, (run) => (run.length <= EMPTY_LINES ? run : `\n\\u{a}×${run.length}\n`));
}

/** Newlines, tabs and spaces do not count as unseen. */
const UNSEEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

function escaped(char: string): string {
  return `\\u{${char.codePointAt(0)!.toString(16)}}`;
}

function widthOf(run: string): number {
  let width = 0;
  for (const char of run) width += char === '\t' ? TAB_WIDTH : 1;
  return width;
}

function repeated(run: string): string {
  return [...run.matchAll(/ +|\t+/g)].map(([same]) => `\\u{${same[0] === ' ' ? '20' : '9'}}×${same.length}`).join('');
}

/**
 * Letters of another script inside a word with Latin letters, and letters that are Latin ones in
 * another width or style. A word that is wholly in one script stays readable.
 */
function imitations(text: string): string {
  // eslint-disable-next-line no-control-regex
  if (!/[^\u0000-\u007f]/.test(text)) return text;
  return text.replace(/[\p{L}\p{N}\p{M}_.\-/@:]+/gu, (word) => {
    const isMixed = /\p{Script=Latin}/u.test(word) && FOREIGN.test(word);
    const shown = (char: string): string => (isStyled(char) || (isMixed && FOREIGN.test(char)) ? escaped(char) : char);
    return Array.from(word, shown).join('');
  });
}

/** Scripts with letters that look like Latin ones. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Deseret}]/u;

function isStyled(char: string): boolean {
  return char > '\u007f' && /^[A-Za-z0-9]+$/.test(char.normalize('NFKC'));
}
