/**
 * Side effects as entries: created once before the effect, replaced by the outcome after it. The
 * machine that runs an effect keeps a witness of the start, so that it can be sent again to a
 * database that lost its last seconds in a failover, and the effect does not run again.
 */
import type { Outcome } from '../../domain/task/outcome.js';
import type { Entry } from '../../ports/ledger.js';
import type { Effect, Effects } from '../../ports/store/effects.js';
import type { Cell } from './batch.js';
import type { Outbox } from './outbox.js';

/** Starts of effects on this machine, which survive the loss of the database's last seconds. */
export interface Witness {
  started(effect: string): { digest: string; at: string } | undefined;
  note(effect: string, start: { digest: string; at: string }): void;
}

type Record = { digest: string; what: string; at: string; peer: string; outcome?: Outcome };

export const EFFECT = 'effect/';

interface EffectOptions {
  outbox: Outbox;
  read: (key: string) => Promise<Entry | undefined>;
  peer: string;
  now: () => Date;
  witness: Witness;
}

export function effects({ outbox, read, peer, now, witness }: EffectOptions): Effects {
  const started = new Map<string, { cell: Cell; record: Record }>();
  return {
    async get(id): Promise<Effect> {
      const entry = await read(EFFECT + id);
      const seen = witness.started(id);
      if (entry === undefined) return seen === undefined ? { state: 'none' } : { state: 'started', ...seen };
      const { digest, at, outcome } = JSON.parse(entry.value) as Record;
      return outcome === undefined ? { state: 'started', digest, at } : { state: 'done', digest, outcome };
    },
    async begin(id, digest, what) {
      const seen = witness.started(id);
      const record: Record = { digest, what, at: now().toISOString(), peer, ...seen };
      const cell: Cell = { key: EFFECT + id, rev: 0 };
      const isFirst = await outbox.set(cell, { print: () => JSON.stringify(record), live: false, topic: 'views' });
      // It ran here before, and the database has forgotten it, so the start is recorded again.
      if (!isFirst || seen !== undefined) return false;
      started.set(id, { cell, record });
      witness.note(id, { digest, at: record.at });
      return true;
    },
    async finish(id, outcome) {
      const own = started.get(id);
      started.delete(id);
      const entry = own === undefined ? await read(EFFECT + id) : undefined;
      const record = own?.record ?? (entry && (JSON.parse(entry.value) as Record));
      if (record === undefined || record.outcome !== undefined) return;
      const cell = own?.cell ?? { key: entry!.key, rev: entry!.rev };
      await outbox.set(cell, { print: () => JSON.stringify({ ...record, outcome }), live: false, topic: 'views' });
    },
  };
}
