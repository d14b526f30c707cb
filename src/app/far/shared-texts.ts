/**
 * The order between tasks and the texts that agents leave for each other in `memory/`, `context/`
 * and `scratch/`. On several machines a mirror carries them. The texts of a task are in the store
 * before the task ends there, and on this machine before a task that depends on it starts here.
 */
import type { FarParts } from '../../adapters/far/index.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Store } from '../../ports/store/index.js';

/** Entries that hold a text. */
export const DOCUMENT = 'doc/';

export interface SharedTexts {
  /** The store's ledger. It reports texts that scans learned of, so no further query is needed. */
  readonly ledger: Ledger;
  around<T extends Store>(store: T): T;
  /** `look` takes in what changed here and shows what others changed. Undefined if nobody does. */
  keepBy(look: (() => Promise<unknown>) | undefined): void;
}

export function sharedTexts({ ledger, collect, onScan }: FarParts): SharedTexts {
  const heard = collect(DOCUMENT);
  let look: (() => Promise<unknown>) | undefined;
  let isWritten = false;
  onScan(async () => {
    if (!heard.isEmpty()) await look?.();
  });
  const sent = async (): Promise<void> => {
    if (!isWritten || look === undefined) return;
    isWritten = false;
    await look();
  };
  return {
    ledger: { ...ledger, news: async () => heard.take() },
    keepBy: (given) => void (look = given),
    around: (store) => ({
      ...store,
      effects: {
        ...store.effects,
        async finish(...given) {
          isWritten = true;
          await store.effects.finish(...given);
        },
      },
      tasks: {
        ...store.tasks,
        create: async (...given) => (await sent(), store.tasks.create(...given)),
        release: async (...given) => (await sent(), store.tasks.release(...given)),
        park: async (...given) => (await sent(), store.tasks.park(...given)),
        settle: async (...given) => (await sent(), store.tasks.settle(...given)),
      },
    }),
  };
}
