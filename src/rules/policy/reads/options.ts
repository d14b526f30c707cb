/**
 * Parses the options of a program against a list of read-only ones. GNU programs accept bundles
 * (`-lah`), attached and separate values, and abbreviated long names. All are parsed exactly,
 * because a value that is mistaken for an option hides the next word. An option that is not on the
 * list needs approval.
 */

export interface Options {
  /** Letters without a value, letters with one, and letters whose value is a path that is read. */
  flags: string;
  values?: string;
  paths?: string;
  /** Letters with an optional, attached value. */
  attached?: string;
  /**
   * Long names: bare, with a value (`name=`), with an optional attached value (`name[=]`), with a
   * path (`name=path`).
   */
  long: string;
  /** Every option of the program is listed, so an abbreviation cannot mean an unlisted one. */
  complete?: boolean;
  /** `-20` is a count. */
  number?: boolean;
}

interface ReadOptions {
  /** Why it needs approval. */
  wrong?: string;
  operands: string[];
  /** Paths that options make the program read. */
  paths: string[];
  /** Options that were seen, by letter or long name. */
  seen: Set<string>;
  values: Map<string, string>;
}

export function readOptions(words: string[], options: Options): ReadOptions {
  const read: ReadOptions = { operands: [], paths: [], seen: new Set(), values: new Map() };
  const long = longNames(options.long);
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === '--') {
      read.operands.push(...words.slice(at + 1));
      return read;
    }
    if (!word.startsWith('-') || word === '-') read.operands.push(word);
    else if (word.startsWith('--')) at += readLong(word, words[at + 1], long, options, read);
    else if (!(options.number && /^-\d+[bkmcqvzl]*$/.test(word))) at += readBundle(word, words[at + 1], options, read);
    if (read.wrong !== undefined) return read;
  }
  return read;
}

/** Returns how many further words were consumed. */
function readLong(
  word: string,
  next: string | undefined,
  long: LongNames,
  options: Options,
  read: ReadOptions,
): number {
  const split = word.indexOf('=');
  const written = split < 0 ? word.slice(2) : word.slice(2, split);
  const value = split < 0 ? undefined : word.slice(split + 1);
  const name = long.has(written) ? written : options.complete ? fullName(written, long) : undefined;
  const kind = name === undefined ? undefined : long.get(name);
  if (name === undefined || kind === undefined || (kind === 'bare' && value !== undefined)) {
    read.wrong = `option ${word} is not on the list of read-only options`;
    return 0;
  }
  read.seen.add(name);
  if (kind === 'bare' || kind === 'optional') {
    if (value !== undefined) read.values.set(name, value);
    return 0;
  }
  const taken = value ?? next;
  if (taken === undefined) read.wrong = `option ${word} has no value`;
  else {
    read.values.set(name, taken);
    if (kind === 'path') read.paths.push(taken);
  }
  return value === undefined ? 1 : 0;
}

function readBundle(word: string, next: string | undefined, options: Options, read: ReadOptions): number {
  for (let at = 1; at < word.length; at++) {
    const letter = word[at]!;
    const rest = word.slice(at + 1);
    read.seen.add(letter);
    if (options.flags.includes(letter)) continue;
    if (options.attached?.includes(letter)) {
      read.values.set(letter, rest);
      return 0;
    }
    const isPath = options.paths?.includes(letter) === true;
    if (!isPath && options.values?.includes(letter) !== true) {
      read.wrong = `option -${letter} is not on the list of read-only options`;
      return 0;
    }
    const value = rest === '' ? next : rest;
    if (value === undefined) read.wrong = `option -${letter} has no value`;
    else {
      read.values.set(letter, value);
      if (isPath) read.paths.push(value);
    }
    return rest === '' ? 1 : 0;
  }
  return 0;
}

type LongNames = Map<string, 'bare' | 'value' | 'optional' | 'path'>;

/** Caches only: the texts are constants of the option tables. */
const cache = new Map<string, LongNames>();

function longNames(text: string): LongNames {
  const cached = cache.get(text);
  if (cached) return cached;
  const names: LongNames = new Map();
  for (const item of text.split(/\s+/).filter(Boolean)) {
    const [, name, kind] = /^([A-Za-z0-9-]+)(=path|\[=\]|=)?$/.exec(item)!;
    names.set(name!, kind === '=path' ? 'path' : kind === '[=]' ? 'optional' : kind === '=' ? 'value' : 'bare');
  }
  cache.set(text, names);
  return names;
}

/** Expands an abbreviation, if all its candidates take their value in the same way. */
function fullName(written: string, long: LongNames): string | undefined {
  const candidates = [...long.keys()].filter((name) => written.length > 0 && name.startsWith(written));
  const kinds = new Set(candidates.map((name) => long.get(name)));
  return candidates.length > 0 && kinds.size === 1 ? candidates[0] : undefined;
}
