/**
 * Regular expressions from files that people write, tried on lines that agents write. A pattern whose work could explode on a
 * crafted line is refused when the file is read; the others get a longest input, so that even the slowest allowed one ends at once.
 */
import type { GuardedPattern } from '../../domain/policy.js';

type PatternRead = { ok: true; pattern: GuardedPattern } | { ok: false; reason: string };

/** Steps that one trial may cost, roughly. */
const MAX_STEPS = 2_000_000;
const MAX_INPUT = 16_384;

/** Reads `/source/flags`. */
export function readPattern(text: string): PatternRead {
  const end = text.lastIndexOf('/');
  const source = text.slice(1, end);
  const flags = text.slice(end + 1);
  if (!text.startsWith('/') || end < 1 || source === '') return { ok: false, reason: 'it must be /pattern/flags' };
  if (!/^[imsu]*$/.test(flags)) return { ok: false, reason: `of its flags only i, m, s and u are taken` };
  if (hasInnerFlags(source))
    return { ok: false, reason: 'flags stand after the last slash only, not inside as in (?i:…)' };
  const repeats = unboundedRepeats(source);
  if (repeats === undefined) return { ok: false, reason: 'a repetition inside a repetition can take for ever' };
  try {
    const regex = new RegExp(source, flags);
    const anchored = source.startsWith('^') && !flags.includes('m') && !source.includes('|');
    const exponent = Math.max(1, repeats + (anchored ? 0 : 1));
    const maxInput = Math.min(MAX_INPUT, Math.floor(MAX_STEPS ** (1 / exponent)));
    return { ok: true, pattern: { source: text, regex, maxInput } };
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : 'it is no regular expression' };
  }
}

/** `(?i:…)` is known from Node 24 on. Elsewhere the whole file could not be read, and one workspace is to mean one thing on every machine. */
function hasInnerFlags(source: string): boolean {
  const bare = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '');
  return /\(\?[a-z-]/.test(bare);
}

/** How many repetitions have no small bound; undefined if one holds another, an alternative or a back reference. */
function unboundedRepeats(source: string): number | undefined {
  const groups: { repeats: boolean; choice: boolean }[] = [{ repeats: false, choice: false }];
  let closed: { repeats: boolean; choice: boolean } | undefined;
  let count = 0;
  for (let at = 0; at < source.length; at++) {
    const c = source[at]!;
    const group = groups.at(-1)!;
    const repeat = repeatAt(source, at);
    if (repeat > 0) {
      if (closed && (closed.repeats || closed.choice)) return undefined;
      for (const open of groups) open.repeats = true;
      count++;
      at += repeat - 1;
      closed = undefined;
      continue;
    }
    closed = undefined;
    if (c === '\\') {
      if (/[1-9k]/.test(source[at + 1] ?? '')) return undefined;
      at++;
    } else if (c === '[') at = endOfSet(source, at);
    else if (c === '(') groups.push({ repeats: false, choice: false });
    else if (c === '|') group.choice = true;
    else if (c === ')' && groups.length > 1) closed = groups.pop();
  }
  return count;
}

/** Length of `*`, `+`, `{n,}` or a large `{n,m}` here; 0 if none. */
function repeatAt(source: string, at: number): number {
  if (source[at] === '*' || source[at] === '+') return 1;
  const bounds = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at, at + 24));
  if (!bounds) return 0;
  const most = bounds[2] === '' ? Number(bounds[1]) : bounds[3] === '' ? Infinity : Number(bounds[3]);
  return most > 10 ? bounds[0].length : 0;
}

function endOfSet(source: string, at: number): number {
  for (at++; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
  return at;
}
