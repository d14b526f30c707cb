/**
 * How alike two texts about work are, from 0 to 1, without a model. Words are cut to their stems, small words are left out, and what names
 * a particular thing (numbers, paths, identifiers) counts double: "test module 3" and "test module 4" are different work.
 */

/** Dice's measure over weighted stems: 1 for the same words in any order, 0 for none in common. */
export function similarity(a: string, b: string): number {
  const [left, right] = [weigh(a), weigh(b)];
  let common = 0;
  for (const [stem, weight] of left) common += Math.min(weight, right.get(stem) ?? 0);
  const all = total(left) + total(right);
  return all === 0 ? (a.trim() === b.trim() ? 1 : 0) : (2 * common) / all;
}

/** The words that carry meaning, cut to their stems, in order. */
export function stems(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+(?:[./-][\p{L}\p{N}_]+)*/gu) ?? [];
  return words.filter((word) => !SMALL.has(word)).map(stem);
}

const SMALL = new Set(
  'a an and are as at be by do for from has have i if in into is it its make of on or our please that the their them then this to up using via was we will with you your'.split(
    ' ',
  ),
);

/** Endings that English puts on one and the same word; enough for comparing, not a dictionary. */
function stem(word: string): string {
  if (isName(word)) return word;
  const found = ENDINGS.find(([ending]) => word.endsWith(ending) && word.length - ending.length >= 3);
  // "implementing" has two
  return found === undefined ? word : stem(undouble(word.slice(0, -found[0].length) + found[1]));
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

/** `plann` of planning and `plan` of plans are one. */
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
