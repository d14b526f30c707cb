/**
 * Regular expressions that people write in files, matched against lines that agents write. A
 * pattern that a crafted line could make exponentially slow is refused. Every other pattern gets a
 * maximum input length, so that even the slowest accepted pattern ends quickly.
 */
import type { GuardedPattern } from '../../domain/policy.js';

type PatternRead = { ok: true; pattern: GuardedPattern } | { ok: false; reason: string };

/** Steps that one match may take, roughly. */
const MAX_STEPS = 2_000_000;
const MAX_INPUT = 16_384;

export function readPattern(text: string): PatternRead {
  const end = text.lastIndexOf('/');
  const source = text.slice(1, end);
  const flags = text.slice(end + 1);
  if (!text.startsWith('/') || end < 1 || source === '') return { ok: false, reason: 'it must be /pattern/flags' };
  if (!/^[imsu]*$/.test(flags)) return { ok: false, reason: 'only the flags i, m, s and u are allowed' };
  if (hasInnerFlags(source))
    return { ok: false, reason: 'flags are only allowed after the last slash, not inside as in (?i:…)' };
  const repeats = unboundedRepeats(source);
  if (repeats === undefined) return { ok: false, reason: 'a repetition inside a repetition can run forever' };
  try {
    const regex = new RegExp(source, flags);
    const anchored = source.startsWith('^') && !flags.includes('m') && !source.includes('|');
    const exponent = Math.max(1, repeats + (anchored ? 0 : 1));
    const maxInput = Math.min(MAX_INPUT, Math.floor(MAX_STEPS ** (1 / exponent)));
    return { ok: true, pattern: { regex, maxInput } };
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : 'it is not a regular expression' };
  }
}

/** `(?i:…)` needs Node 24. A workspace must mean the same on every machine, so it is refused. */
function hasInnerFlags(source: string): boolean {
  const bare = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '');
  return /\(\?[a-z-]/.test(bare);
}

/**
 * The number of repetitions without a small bound; undefined if one contains another, an
 * alternative or a back reference.
 */
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

/** The length of `*`, `+`, `{n,}` or a large `{n,m}` here; 0 if there is none. */
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
