/**
 * Many puts and adds in commits of a bounded size. Each commit records its number, so that an
 * interrupted sequence can be continued at any later time.
 */
import type { Add, Ledger, Put } from '../../ports/ledger.js';

const MAX_ITEMS = 500;
const MAX_CHARS = 4_000_000;

interface Batches {
  put(put: Put): void;
  add(add: Add): void;
  /** Skips the first `from` commits. `note` is the entry that records how many were made. */
  end(from: number, note: (made: number) => Put): Promise<void>;
}

export function batches(ledger: Ledger, name: string): Batches {
  const items: ({ put: Put; chars: number } | { add: Add; chars: number })[] = [];
  return {
    put: (put) => void items.push({ put, chars: put.value.length }),
    add: (add) => void items.push({ add, chars: add.text.length }),
    async end(from, note) {
      let made = 0;
      for (let start = 0; start < items.length; made++) {
        let end = start;
        for (let chars = 0; end < items.length && end - start < MAX_ITEMS && chars < MAX_CHARS; end++)
          chars += items[end]!.chars;
        const part = items.slice(start, end);
        start = end;
        if (made < from) continue;
        const puts = part.flatMap((item) => ('put' in item ? [item.put] : []));
        const adds = part.flatMap((item) => ('add' in item ? [item.add] : []));
        await ledger.commit(`${name}-${made}`, { puts: [...puts, note(made + 1)], adds });
      }
    },
  };
}
