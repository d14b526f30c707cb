/**
 * Many puts and adds in commits of a bounded size. The ids of the commits follow from their number,
 * so that the same sequence again changes nothing while the ledger remembers them.
 */
import type { Add, Ledger, Put } from '../../ports/ledger.js';

const MAX_ITEMS = 500;
const MAX_CHARS = 4_000_000;

interface Batches {
  put(put: Put): void;
  add(add: Add): void;
  /** Sends all. */
  end(): Promise<void>;
}

export function batches(ledger: Ledger, name: string): Batches {
  const items: ({ put: Put; chars: number } | { add: Add; chars: number })[] = [];
  return {
    put: (put) => void items.push({ put, chars: put.value.length }),
    add: (add) => void items.push({ add, chars: add.text.length }),
    async end() {
      let number = 0;
      for (let from = 0; from < items.length;) {
        let to = from;
        for (let chars = 0; to < items.length && to - from < MAX_ITEMS && chars < MAX_CHARS; to++)
          chars += items[to]!.chars;
        const part = items.slice(from, to);
        const puts = part.flatMap((item) => ('put' in item ? [item.put] : []));
        const adds = part.flatMap((item) => ('add' in item ? [item.add] : []));
        await ledger.commit(`${name}-${number++}`, { puts, adds });
        from = to;
      }
    },
  };
}
