/**
 * A word as the deny rules see it: literal text, with marks for patterns, the home directory and
 * unknown parts. The auto rules give up on unknown words; the deny rules must still recognise
 * `rm -rf "$HOME"/*` and `{rm,-rf,/}`.
 */
import type { ShellPiece, ShellWord } from '../../../domain/shell.js';
import { fitsPattern, type Wildcards } from '../../../domain/wildcard.js';

export interface Arg {
  /** Patterns are STAR, ANY or SET, the home directory is HOME, unknown parts are HOLE. */
  text: string;
  /** The lower-case program name without directories; undefined if it is known only at run time. */
  name: string | undefined;
  /** As a path, if all of it is known. */
  path: string | undefined;
  /** As script text, with variables unexpanded. */
  script: string;
  /** Contains downloaded text. */
  fetched: boolean;
}

export const STAR = '\uE000';
const ANY = '\uE001';
const SET = '\uE002';
export const HOME = '\uE003';
export const HOLE = '\uE004';
const MARKS = /[\uE000-\uE004]/;

/** Brace expansion may turn one word into several. */
export function argsOf(word: ShellWord, fetched = false): Arg[] {
  if (word.value === word.text && !word.glob && !word.tilde && !word.odd) return [argOf(word.text, fetched)];
  let braces = 0;
  for (const { kind } of word.pieces) if (kind === 'braces') braces++;
  if (braces === 0) return [plainArg(word, fetched)];
  // A word with many brace groups counts as unknown: it is never legitimate, and expanding it is
  // expensive.
  if (braces > 6) return [argOf(HOLE, fetched, word.text)];
  let shapes = [''];
  for (const [n, piece] of word.pieces.entries()) {
    const isHome = n === 0 && word.tilde;
    const options = piece.kind === 'braces' ? (expandBraces(piece.text, 4) ?? [HOLE]) : [shapeOf(piece, isHome)];
    shapes = shapes.flatMap((shape) => options.map((option) => shape + option)).slice(0, 64);
  }
  const script = word.pieces.map(scriptOf).join('');
  return shapes.map((text) => argOf(text, fetched, shapes.length > 1 ? text : script));
}

/** Nearly all words are plain, so this path allocates as little as possible. */
function plainArg({ pieces, tilde }: ShellWord, fetched: boolean): Arg {
  let text = '';
  let script = '';
  for (let n = 0; n < pieces.length; n++) {
    text += shapeOf(pieces[n]!, n === 0 && tilde);
    script += scriptOf(pieces[n]!);
  }
  return argOf(text, fetched, script);
}

export function argOf(text: string, fetched = false, script = text): Arg {
  const base = text.slice(text.lastIndexOf('/') + 1);
  const marked = MARKS.test(text);
  return {
    text,
    name: marked && MARKS.test(base) ? likelyName(base) : base.toLowerCase(),
    path: marked ? undefined : text,
    script,
    fetched,
  };
}

export function literalText(word: ShellWord): string | undefined {
  if (word.value !== undefined && !word.glob) return word.value;
  const parts = word.pieces.map((piece) => (piece.kind === 'text' ? piece.text : undefined));
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** Whether the pattern has no marks, so it matches one name only. */
export function isExact(pattern: string): boolean {
  return !MARKS.test(pattern);
}

/** Whether a pattern with marks can match this name. */
export function couldBe(pattern: string, name: string): boolean {
  return fitsPattern(pattern, name, MARKED);
}

const MARKED: Wildcards<string> = {
  isMany: (mark) => mark === STAR || mark === HOLE,
  isOne: (mark, char) => mark === ANY || mark === SET || mark === char,
};

function shapeOf(piece: ShellPiece, tilde: boolean): string {
  switch (piece.kind) {
    case 'text':
      return tilde ? piece.text.replace(/^~[^/]*/, HOME) : piece.text.replace(/[\uE000-\uE004]/g, HOLE);
    case 'glob':
      return piece.text.startsWith('*') ? STAR : piece.text.startsWith('?') ? ANY : SET;
    case 'variable':
      return piece.name === 'HOME' ? HOME : HOLE;
    case 'braces':
    case 'hole':
      return HOLE;
  }
}

function scriptOf(piece: ShellPiece): string {
  if (piece.kind === 'variable') return `\${${piece.name}}`;
  return piece.kind === 'hole' ? '${__}' : piece.text;
}

/** The alternatives of `{a,b}`; undefined for ranges and for too many. */
function expandBraces(text: string, depth: number): string[] | undefined {
  const open = text.indexOf('{');
  if (open < 0) return [bareText(text)];
  if (depth === 0) return undefined;
  const cuts = [open];
  let level = 0;
  let close = -1;
  for (let at = open; at < text.length && close < 0; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '{') level++;
    else if (text[at] === '}' && --level === 0) close = at;
    else if (text[at] === ',' && level === 1) cuts.push(at);
  }
  if (close < 0 || cuts.length < 2) return undefined;
  cuts.push(close);
  const before = text.slice(0, open);
  const after = text.slice(close + 1);
  const all: string[] = [];
  for (let n = 0; n + 1 < cuts.length; n++) {
    const more = expandBraces(before + text.slice(cuts[n]! + 1, cuts[n + 1]) + after, depth - 1);
    if (more === undefined || all.length + more.length > 64) return undefined;
    all.push(...more);
  }
  return all;
}

function bareText(text: string): string {
  return text
    .replace(/\$\{?HOME\}?|^~(?=\/|$)/g, HOME)
    .replace(/\$[\w{(]\S*/g, HOLE)
    .replace(/['"\\]/g, '')
    .replace(/\*/g, STAR)
    .replace(/\?/g, ANY);
}

/**
 * The dangerous program that a pattern such as `/bin/r?` matches. A pattern without letters matches
 * too much.
 */
function likelyName(base: string): string | undefined {
  if (!/[a-z]/i.test(base) || base.includes(HOLE) || base.includes(HOME)) return undefined;
  return ['rm', 'sudo', 'dd', 'mkfs', 'shutdown', 'reboot', 'halt', 'poweroff', 'sh', 'bash'].find((name) =>
    couldBe(base.toLowerCase(), name),
  );
}
