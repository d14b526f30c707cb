/** The live entries of one kind as text, for kinds that are few and small. */
import type { Entry } from '../../ports/ledger.js';
import type { Looks } from './looks.js';
import type { Cell } from './batch.js';
import type { Outbox } from './outbox.js';

interface Held {
  readonly cell: Cell;
  readonly value: string;
}

export interface Shelf {
  /** As of the last look, with this process's own changes. */
  get(id: string): Held | undefined;
  /** In the order of their last changes. */
  all(): [id: string, held: Held][];
  /** Increases with every change. */
  version(): number;
  /**
   * Replaces the value, or ends the entry if it is undefined. False: another process was faster;
   * `get` then has its value.
   */
  replace(id: string, held: Held | undefined, value: string | undefined): Promise<boolean>;
  read(id: string): Promise<Held | undefined>;
}

interface Dependencies {
  outbox: Outbox;
  looks: Looks;
  read: (key: string) => Promise<Entry | undefined>;
}

export function shelf(prefix: string, { outbox, looks, read }: Dependencies): Shelf {
  const known = new Map<string, Held>();
  let changes = 0;
  looks.add({
    prefix,
    learn,
    keys: () => [...known.keys()].map((id) => prefix + id),
    forget: (key) => void (known.delete(key.slice(prefix.length)), changes++),
  });
  return {
    get: (id) => known.get(id),
    all: () => [...known].sort(([, a], [, b]) => a.cell.rev - b.cell.rev),
    version: () => changes,
    async replace(id, held, value) {
      const cell: Cell = { key: prefix + id, rev: held?.cell.rev ?? 0 };
      const isLive = value !== undefined;
      if (await outbox.set(cell, { print: () => value ?? '', live: isLive })) {
        changes++;
        if (isLive) known.set(id, { cell, value });
        else known.delete(id);
        return true;
      }
      await readNow(id);
      return false;
    },
    read: readNow,
  };

  function learn({ key, rev, value, live }: Entry): void {
    const id = key.slice(prefix.length);
    if (rev <= (known.get(id)?.cell.rev ?? 0)) return;
    changes++;
    if (live) known.set(id, { cell: { key, rev }, value });
    else known.delete(id);
  }

  /** Also returns an ended entry, because its revision is needed to replace it. */
  async function readNow(id: string): Promise<Held | undefined> {
    const entry = await read(prefix + id);
    if (entry === undefined) return undefined;
    looks.learn(entry);
    return known.get(id) ?? { cell: { key: entry.key, rev: entry.rev }, value: entry.value };
  }
}
