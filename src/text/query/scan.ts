/** Splits a query into tokens. The parser decides what a word means. */
import { problem, type Problem, ProblemError } from '../../domain/problem.js';
import { whereAt } from '../lines/where.js';

export interface Token {
  kind: 'word' | 'string' | 'number' | 'sign' | 'end';
  /** As written, or the content of the quotes. */
  text: string;
  start: number;
}

export interface Scanner {
  /** Returns the next token without consuming it. */
  peek(): Token;
  take(): Token;
  /** A file or source name: quoted, or everything up to the next space. */
  takeName(what: string): string;
  /** Ends the parse with a problem at this place, or at the current token. */
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
      const token = match(sticky, at);
      if (token === undefined) continue;
      at += token.length;
      return { kind, text: token, start };
    }
    const unknown = match(/[^\s,;()]+/y, at) ?? char;
    return fail(
      `unexpected ${unknown.slice(0, 40)}`,
      'compare with = != < <= > >= LIKE IN CONTAINS IS NULL; put text in quotes',
      start,
    );
  };

  /** Escapes are `\n \t \r \\ \' \"` and a doubled quote; any other backslash is kept. */
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
  return problem('bad_usage', message, { where: whereAt('query', text, at), hint });
}
