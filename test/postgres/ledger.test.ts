/** The ledger contract on a real PostgreSQL, directly and through PgBouncer. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Committed } from '../../src/ports/ledger.js';
import { ledgerContract } from '../contract/ledger.js';
import { NO_POSTGRES, sharedPostgres, startPooler, type Pooler } from '../kit/postgres/server.js';
import { sampleOf } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';

if (NO_POSTGRES === false) {
  ledgerContract('postgres', () => field());

  test('a commit does not wake processes that listen to other topics', async () => {
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

  test('new lines are read without the old lines of their log', async () => {
    const own = await field();
    const texts = Array.from({ length: 5000 }, (_, n) => ({ log: 'bus/state', text: `note ${n}` }));
    const writer = await own.open();
    const { adds } = (await writer.commit('old', { puts: [], adds: texts })) as Committed;
    await writer.commit('new', { puts: [], adds: [{ log: 'bus/state', text: 'new' }] });
    await writer.close();
    /** PostgreSQL counts the rows that a connection read when the connection closes. */
    const counts = async (): Promise<{ logs: number; lines: number }> => {
      const read = 'coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)';
      const of = (table: string): string =>
        `(select ${read} from pg_stat_user_tables where schemaname = '${own.schema}' and relname = '${table}')`;
      const [row] = await own.server.sql(`select ${of('log')} as logs, ${of('line')} as lines`);
      return { logs: Number(row!['logs']), lines: Number(row!['lines']) };
    };
    const before = await counts();
    const reader = await own.open();
    const ends = new Map([['bus/state', adds.at(-1)!]]);
    const { logs } = await reader.newLines(['bus/'], { ends });
    assert.deepEqual(logs.get('bus/state')!.texts, ['new']);
    await reader.close();
    await until(async () => (await counts()).logs > before.logs);
    assert.ok((await counts()).lines - before.lines < 100);
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
