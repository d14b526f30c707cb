/**
 * Numbers that JavaScript would round: ids of nineteen digits, long decimals. Records of other
 * programs have them, so they are kept as text and printed as they were read.
 */
export class ExactNumber {
  /** True once a record had such a number: until then no value needs to be searched for one. */
  static isUsed = false;

  constructor(readonly text: string) {
    ExactNumber.isUsed = true;
  }

  /** Outside records such a number becomes text, the only form that no reader rounds. */
  toJSON(): string {
    return this.text;
  }
}

/** Sixteen digits in a row; a double keeps fifteen. */
const MAY_ROUND = /(?:\d\.?){16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Like `JSON.parse`, but a number that would be rounded becomes an `ExactNumber`. */
export function parseExact(text: string): unknown {
  if (!MAY_ROUND.test(text)) return JSON.parse(text);
  const mark = markFor(text);
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') || isKept(token) ? token : JSON.stringify(`${mark}${token}`),
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

/** Like `JSON.stringify`, but an `ExactNumber` is printed as a number. */
export function printExact(value: object): string {
  const plain = JSON.stringify(value, null, 2);
  if (!ExactNumber.isUsed || !hasExact(value)) return plain;
  const mark = markFor(plain);
  const marked = JSON.stringify(
    value,
    function (this: Record<string, unknown>, key: string, field: unknown) {
      const raw = this[key];
      return raw instanceof ExactNumber ? `${mark}${raw.text}` : field;
    },
    2,
  );
  return marked.replace(new RegExp(`"${escaped(mark).replace('\\', '\\\\')}([^"]+)"`, 'g'), '$1');
}

/** A prefix that occurs nowhere in the text. */
function markFor(text: string): string {
  let mark = '\u0000';
  while (text.includes(escaped(mark))) mark += '#';
  return mark;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isKept(token: string): boolean {
  return token.replace(/[eE].*|\D/g, '').length <= 15 || String(Number(token)) === token;
}

function hasExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactNumber || Object.values(value).some(hasExact);
}
