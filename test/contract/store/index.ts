/** The contract of the divided store: one suite for each port. */
import { test } from 'node:test';
import type { Bench, Check } from './bench.js';
import { blobsContract } from './blobs.js';
import { effectsContract } from './effects.js';
import { eventsContract } from './events.js';
import { intentsContract } from './intents.js';
import { locksContract } from './locks.js';
import { presenceContract } from './presence.js';
import { sessionsContract } from './sessions.js';
import { tasksContract } from './tasks.js';
import { viewsContract } from './views.js';

export function storeContract(name: string, bench: () => Bench | Promise<Bench>): void {
  const check: Check = (promise, body) => {
    test(`${name}: ${promise}`, async () => body(await bench()));
  };
  tasksContract(check);
  sessionsContract(check);
  locksContract(check);
  effectsContract(check);
  blobsContract(check);
  intentsContract(check);
  eventsContract(check);
  presenceContract(check);
  viewsContract(check);
}
