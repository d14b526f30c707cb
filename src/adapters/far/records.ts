/** Blobs, intents and events on the ledger. */
import { createHash } from 'node:crypto';
import { defined } from '../../domain/defined.js';
import type { Event } from '../../domain/event.js';
import type { Intent } from '../../domain/task/intent.js';
import type { Entry, Ledger } from '../../ports/ledger.js';
import type { Blobs } from '../../ports/store/blobs.js';
import type { Events } from '../../ports/store/events.js';
import type { Intents } from '../../ports/store/intents.js';
import type { Looks } from './looks.js';
import type { Outbox } from './outbox.js';
import type { Shelf } from './shelf.js';

export const INTENT = 'intent/';
export const EVENTS = 'events';
const BLOB = 'blob/';

export function blobs(outbox: Outbox, read: (key: string) => Promise<Entry | undefined>): Blobs {
  /** Hashes that the ledger has. */
  const stored = new Set<string>();
  return {
    async put(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (stored.has(hash)) return hash;
      const print = (): string => Buffer.from(bytes).toString('base64');
      await outbox.set({ key: BLOB + hash, rev: 0 }, { print, live: false, topic: 'views' });
      stored.add(hash);
      return hash;
    },
    async get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      const entry = await read(BLOB + hash);
      return entry && Buffer.from(entry.value, 'base64');
    },
  };
}

/** In the order in which the ledger got them: clocks of different machines are not compared. */
export function intents(shelf: Shelf, looks: Looks): Intents {
  return {
    async submit(intent) {
      await shelf.replace(intent.id, undefined, JSON.stringify(intent));
    },
    async list({ maxAgeMs = 0 } = {}) {
      if (!looks.isFresh(maxAgeMs)) await looks.look();
      return shelf.all().map(([, { value }]) => JSON.parse(value) as Intent);
    },
    async done(id) {
      for (let held = shelf.get(id); held !== undefined; held = shelf.get(id))
        if (await shelf.replace(id, held, undefined)) return;
    },
  };
}

export function events(ledger: Ledger, outbox: Outbox): Events {
  return {
    append(event) {
      const tag = event.task === undefined ? {} : { tag: event.task };
      outbox.line({ log: EVENTS, text: JSON.stringify(event), ...tag }, 'views');
    },
    async list({ task, limit } = {}) {
      await outbox.flush();
      const which = defined({ tag: task, last: limit });
      return (await ledger.lines(EVENTS, which)).texts.map((text) => JSON.parse(text) as Event);
    },
  };
}
