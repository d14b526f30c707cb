/**
 * Strict JSON: no duplicate keys (even if escaped differently), limited nesting, no infinite
 * numbers, and every error with line, column and caret. A valid file takes one cheap scan and
 * `JSON.parse`; only an invalid file takes the slow walk that finds the error.
 */
import { problem, type Problem } from '../../domain/problem.js';
import { ExactNumber, parseExact } from './exact-number.js';
import { whereAt } from './where.js';

interface JsonLimits {
  /** Deepest allowed nesting of arrays and objects. */
  depth?: number;
  /** Keeps numbers that JavaScript would round as `ExactNumber`. */
  exact?: boolean;
}

const MAX_JSON_DEPTH = 64;

/**
 * `torn`: a syntax error that a save in progress may cause. Other errors do not go away by waiting.
 */
type JsonParsed = { ok: true; value: unknown } | { ok: false; problem: Problem; torn: boolean };

/** An object may have an own key `__proto__`: copy with spread, never with `Object.assign`. */
export function parseJson(text: string, file: string, limits: JsonLimits = {}): JsonParsed {
  const depth = limits.depth ?? MAX_JSON_DEPTH;
  const keys = countKeys(text, depth);
  if (keys >= 0) {
    try {
      const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
      const value: unknown = limits.exact ? parseExact(json) : JSON.parse(json);
      if (ownKeys(value) === keys) return { ok: true, value };
    } catch {
      // The walk below finds the place of the error.
    }
  }
  return explain(text, file, depth);
}

/** The offset of a value, or of the key for an object's field, by its path `['a', 0, 'b']`. */
export function jsonOffset(text: string, path: readonly (string | number)[]): number | undefined {
  const places = new Map<string, number>();
  walk(text, MAX_JSON_DEPTH, places);
  return places.get(path.join('\n'));
}

const QUOTE = 0x22;

/**
 * Counts keys in the text, including duplicates; -1 if nesting is too deep or a string never ends.
 */
function countKeys(text: string, depth: number): number {
  let keys = 0;
  let open = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = stringEnd(text, i);
      if (i < 0) return -1;
    } else if (c === 0x3a) keys++;
    else if (c === 0x7b || c === 0x5b) {
      if (++open > depth) return -1;
    } else if (c === 0x7d || c === 0x5d) open--;
  }
  return keys;
}

function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** Counts keys in the value. NaN if a number in it is not finite, because NaN equals no count. */
function ownKeys(value: unknown): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : NaN;
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += ownKeys(item);
    return keys;
  }
  for (const key in value) {
    keys += 1;
    const field = (value as Record<string, unknown>)[key];
    if (typeof field === 'object' || typeof field === 'number') keys += ownKeys(field);
  }
  return keys;
}

function explain(text: string, file: string, depth: number): JsonParsed {
  const fault = walk(text, depth, new Map());
  if (fault === undefined) {
    return { ok: false, torn: false, problem: problem('bad_file', 'this JSON cannot be read', { where: { file } }) };
  }
  return {
    ok: false,
    torn: fault.torn,
    problem: problem(fault.deep ? 'over_limit' : 'bad_file', fault.message, {
      where: whereAt(file, text, fault.offset),
    }),
  };
}

interface Fault {
  offset: number;
  message: string;
  torn: boolean;
  deep?: boolean;
}

class Stop extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message);
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
// oxlint-disable-next-line no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** The slow way: returns the first fault, or fills `places` with the offset of every path. */
function walk(text: string, depth: number, places: Map<string, number>): Fault | undefined {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) at += match.length;
    return match;
  };
  const fail = (message: string, offset = at): never => {
    throw new Stop({ offset, message, torn: true });
  };
  const failForever = (message: string, offset: number, deep = false): never => {
    throw new Stop({ offset, message, torn: false, deep });
  };
  const expected = (what: string): never =>
    at >= text.length
      ? fail(`the text ends where ${what} should be`, text.trimEnd().length)
      : fail(`expected ${what} here`);

  const string = (): string => {
    const start = at;
    const raw = take(STRING);
    if (raw !== undefined) return JSON.parse(raw) as string;
    return fail(stringEnd(text, start) < 0 ? 'this string does not end' : badStringReason(text, start), start);
  };

  const value = (path: string, level: number): void => {
    take(SPACE);
    const start = at;
    if (!places.has(path)) places.set(path, start);
    const c = text[at];
    if (c === '{' || c === '[') {
      if (level >= depth) failForever(`nested deeper than ${depth} levels`, start, true);
      at++;
      return c === '{' ? members(path, level + 1) : items(path, level + 1);
    }
    if (c === '"') return void string();
    const number = take(NUMBER);
    if (number !== undefined) {
      if (!Number.isFinite(Number(number))) failForever('this number is too large', start);
      return;
    }
    if (take(WORD) === undefined) expected('a value');
  };

  const members = (path: string, level: number): void => {
    const seen = new Set<string>();
    take(SPACE);
    if (text[at] === '}') return void at++;
    for (;;) {
      take(SPACE);
      const start = at;
      if (text[at] !== '"') expected('a key in double quotes');
      const key = string();
      if (seen.has(key)) failForever(`the key "${key.slice(0, 60)}" appears twice`, start);
      seen.add(key);
      take(SPACE);
      if (text[at] !== ':') expected('":"');
      at++;
      const inner = path === '' ? key : `${path}\n${key}`;
      places.set(inner, start);
      value(inner, level);
      take(SPACE);
      if (text[at] === '}') return void at++;
      if (text[at] !== ',') expected('"," or "}"');
      at++;
    }
  };

  const items = (path: string, level: number): void => {
    take(SPACE);
    if (text[at] === ']') return void at++;
    for (let index = 0; ; index++) {
      value(path === '' ? String(index) : `${path}\n${index}`, level);
      take(SPACE);
      if (text[at] === ']') return void at++;
      if (text[at] !== ',') expected('"," or "]"');
      at++;
    }
  };

  try {
    value('', 0);
    take(SPACE);
    if (at < text.length) fail('unexpected text after the JSON value');
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Stop) return thrown.fault;
    throw thrown;
  }
}

function badStringReason(text: string, start: number): string {
  const line = text.slice(start, stringEnd(text, start));
  return line.includes('\n')
    ? 'this string contains a line break'
    : 'this string has an invalid escape or a control character';
}
