/** A change as the function in the database reads it, and its answer in the order of the change. */
import type { Add, Change, Committed } from '../../../ports/ledger.js';
import { encode } from './encoding.js';

type Places = (number | null)[];

interface Written {
  puts: string;
  adds: string;
  answer(said: { p: Places; a: Places }): Committed;
}

/**
 * Two commits that want the same rows ask for them in the same order, so they never wait for each
 * other in a cycle. Where a limit makes the given order matter, the function in the database
 * restores it.
 */
export function written({ puts, adds }: Change): Written {
  const isLimited = puts.some(({ atMost }) => atMost !== undefined);
  const putOrder = isLimited ? puts.map((_, at) => at) : sortedBy(puts, ({ key }) => key);
  const addOrder = sortedBy(adds, ({ log }) => log);
  const putAt = (at: number): object => {
    const { key, value, expect, live, tag, atMost } = puts[at]!;
    return { k: key, v: encode(value), l: live, e: expect, t: tag, m: atMost };
  };
  return {
    puts: JSON.stringify(putOrder.map(putAt)),
    adds: JSON.stringify(linesOf(addOrder.map((at) => adds[at]!))),
    answer: ({ p, a }) => ({ puts: unsorted(putOrder, p), adds: unsorted(addOrder, a) }),
  };
}

interface Group {
  g: string;
  n: [text: string, tag?: string][];
}

/** Lines that may go anywhere in their log are sent as one list for each log. */
function linesOf(adds: readonly Add[]): object[] {
  const groups: (Group | { g: string; x: string; e: number; t?: string | undefined })[] = [];
  for (const { log, text, expect, tag } of adds) {
    if (expect !== undefined) {
      groups.push({ g: log, x: encode(text), e: expect, t: tag });
      continue;
    }
    const line: Group['n'][number] = tag === undefined ? [encode(text)] : [encode(text), tag];
    const last = groups.at(-1);
    if (last !== undefined && 'n' in last && last.g === log) last.n.push(line);
    else groups.push({ g: log, n: [line] });
  }
  return groups;
}

/** The places of the items in the order of their names; equal names keep their order. */
function sortedBy<T>(items: readonly T[], name: (item: T) => string): number[] {
  const names = items.map(name);
  return names.map((_, at) => at).sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b));
}

function unsorted(order: readonly number[], values: Places): (number | undefined)[] {
  const result: (number | undefined)[] = Array.from({ length: order.length });
  order.forEach((at, index) => (result[at] = values[index] ?? undefined));
  return result;
}
