/** The words of a query. A scanner without look-behind: what a word means is decided by who asks for it. */
import { problem, type Problem, ProblemError } from '../../domain/problem.js';
import { whereAt } from '../lines/where.js';

export interface Token {
  kind: 'word' | 'string' | 'number' | 'sign' | 'end';
  /** As written, or what the quotes hold. */
  text: string;
  start: number;
}

export interface Scanner {
  /** The next token, which stays next. */
  peek(): Token;
  take(): Token;
  /** A file or source name: quoted, or everything up to the next blank. */
  takeName(what: string): string;
  /** Ends the parse at this token, or where the scanner stands. */
  fail(message: string, hint?: string, at?: number): never;
}

const BLANK = /\s*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_.-]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?![A-Za-z0-9_.-])/y;
const SIGN = /<=|>=|!=|<>|[=<>(),*;]/y;
const NAME = /[^\s,;()'"=<>*]+/y;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };

export function scanner(text: string): Scanner {
  let at = 0;
  let next: Token | undefined;

  const match = (sticky: RegExp, from: number): string | undefined => {
    sticky.lastIndex = from;
    return sticky.exec(text)?.[0];
  };

  const fail = (message: string, hint?: string, where = next?.start ?? at): never => {
    throw new ProblemError(queryProblem(text, where, message, hint));
  };

  const scan = (): Token => {
    at += match(BLANK, at)!.length;
    const start = at;
    const char = text[at];
    if (char === undefined) return { kind: 'end', text: 'the end', start };
    if (char === "'" || char === '"') return { kind: 'string', text: scanString(char), start };
    for (const [kind, sticky] of [
      ['word', WORD],
      ['number', NUMBER],
      ['sign', SIGN],
    ] as const) {
      const found = match(sticky, at);
      if (found === undefined) continue;
      at += found.length;
      return { kind, text: found, start };
    }
    const odd = match(/[^\s,;()]+/y, at) ?? char;
    return fail(
      `${odd.slice(0, 40)} is not understood`,
      'compare with = != < <= > >= LIKE IN CONTAINS IS NULL; text goes into quotes',
      start,
    );
  };

  /** `\n \t \r \\ \' \"`, a doubled quote for itself; any other backslash stands for itself. */
  const scanString = (quote: string): string => {
    const start = at;
    let value = '';
    for (at += 1; at < text.length; at++) {
      const char = text[at]!;
      if (char === quote) {
        if (text[at + 1] !== quote) {
          at += 1;
          return value;
        }
        at += 1;
        value += quote;
      } else if (char === '\\' && ESCAPES[text[at + 1] ?? ''] !== undefined) {
        at += 1;
        value += ESCAPES[text[at]!];
      } else value += char;
    }
    return fail('this quote is never closed', `add ${quote} where the text ends`, start);
  };

  const peek = (): Token => (next ??= scan());
  const take = (): Token => {
    const token = peek();
    next = undefined;
    return token;
  };

  return {
    peek,
    take,
    fail,
    takeName(what) {
      if (next) at = next.start;
      next = undefined;
      at += match(BLANK, at)!.length;
      const start = at;
      const char = text[at];
      const name = char === "'" || char === '"' ? scanString(char) : match(NAME, at);
      if (name === undefined || name === '') return fail(`${what} is missing`, undefined, start);
      if (char !== "'" && char !== '"') at += name.length;
      return name;
    },
  };
}

export function queryProblem(text: string, at: number, message: string, hint?: string): Problem {
  return problem('bad_usage', message, { where: whereAt('query', text, at), ...(hint ? { hint } : {}) });
}
