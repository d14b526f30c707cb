/** The ledger contract on a real PostgreSQL, directly and through PgBouncer. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ledgerContract } from '../contract/ledger.js';
import { NO_POSTGRES, sharedPostgres, startPooler, type Pooler } from '../kit/postgres/server.js';
import { sampleOf } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';

if (NO_POSTGRES === false) {
  ledgerContract('postgres', () => field());

  test('a commit leaves those asleep who listen to other topics', async () => {
    const own = await field();
    const [first, second] = [await own.open(), await own.open()];
    const heard: string[] = [];
    await second.onRing(() => heard.push('work'), ['work']);
    await second.onRing(() => heard.push('notes'), ['notes']);
    const change = { puts: [{ key: 'k', value: 'v', live: true }], adds: [] };
    heard.length = 0;
    await first.commit('nobody', { ...change, topics: [] });
    await first.commit('views', { ...change, topics: ['views'] });
    await first.commit('notes', { ...change, topics: ['notes'] });
    // The server keeps the order of rings, so an earlier one would have come before.
    await until(() => heard.includes('notes'));
    assert.deepEqual(new Set(heard), new Set(['notes']));
    await Promise.all([first.close(), second.close()]);
    await own.end();
  });

  for (const mode of sampleOf('modes of a pooler', ['session', 'transaction'] as const, 2)) {
    let pooler: Promise<Pooler | undefined> | undefined;
    after(async () => (await pooler)?.stop());
    ledgerContract(`postgres through a pooler in ${mode} mode`, async () => {
      pooler ??= sharedPostgres().then((server) => startPooler(server, mode));
      const port = (await pooler)!.port;
      const own = await field();
      return { open: () => own.open({ port }), end: own.end };
    });
  }
}
