/**
 * Compares two descriptions of work without a model. Words are reduced to stems, stop words are
 * dropped, and names (numbers, paths, identifiers) count double, because "test module 3" and
 * "test module 4" are different work.
 */

/**
 * Dice coefficient over weighted stems: 1 for the same words in any order, 0 for none in common.
 */
export function similarity(a: string, b: string): number {
  const [left, right] = [weigh(a), weigh(b)];
  let common = 0;
  for (const [stem, weight] of left) common += Math.min(weight, right.get(stem) ?? 0);
  const all = total(left) + total(right);
  return all === 0 ? (a.trim() === b.trim() ? 1 : 0) : (2 * common) / all;
}

export function stems(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+(?:[./-][\p{L}\p{N}_]+)*/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem);
}

const STOP_WORDS = new Set(
  'a an and are as at be by do for from has have i if in into is it its make of on or our please that the their them then this to up using via was we will with you your'.split(
    ' ',
  ),
);

/** Strips English suffixes. Good enough for comparing words; the stems need not be words. */
function stem(word: string): string {
  if (isName(word)) return word;
  const match = ENDINGS.find(([ending]) => word.endsWith(ending) && word.length - ending.length >= 3);
  if (match === undefined) return word;
  const [ending, replacement] = match;
  // A word may have several suffixes: "implementing" has two.
  return stem(undouble(word.slice(0, -ending.length) + replacement));
}

const ENDINGS: [string, string][] = [
  ['isations', ''],
  ['izations', ''],
  ['isation', ''],
  ['ization', ''],
  ['ations', ''],
  ['ation', ''],
  ['ities', ''],
  ['ments', ''],
  ['ment', ''],
  ['ising', ''],
  ['izing', ''],
  ['ions', ''],
  ['ings', ''],
  ['ies', 'y'],
  ['ity', ''],
  ['ion', ''],
  ['ing', ''],
  ['ise', ''],
  ['ize', ''],
  ['ate', ''],
  ['ers', ''],
  ['er', ''],
  ['ed', ''],
  ['es', ''],
  ['s', ''],
  ['e', ''],
];

/** Makes `plann` (from "planning") equal to `plan` (from "plans"). */
function undouble(word: string): string {
  return word.length > 3 && word.at(-1) === word.at(-2) && !'ls'.includes(word.at(-1)!) ? word.slice(0, -1) : word;
}

function isName(word: string): boolean {
  return /[\d_./]/.test(word);
}

function weigh(text: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const word of stems(text)) weights.set(word, (weights.get(word) ?? 0) + (isName(word) ? 2 : 1));
  return weights;
}

function total(weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const weight of weights.values()) sum += weight;
  return sum;
}
