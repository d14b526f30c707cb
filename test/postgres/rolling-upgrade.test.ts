/**
 * A rolling upgrade: a worker of the previous version works while the schema is upgraded, and a
 * worker of this version joins it. The schema was made by the older version, and its commits are
 * sent in the older version's form.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { clock, ids } from '../../src/adapters/clock/index.js';
import { far, type FarStore } from '../../src/adapters/far/index.js';
import { readAddress, type Address } from '../../src/adapters/ledger/postgres/address.js';
import { decode, encode } from '../../src/adapters/ledger/postgres/encoding.js';
import { postgresLedger } from '../../src/adapters/ledger/postgres/index.js';
import { upgradeStore } from '../../src/adapters/ledger/postgres/make-store.js';
import { asProblem } from '../../src/domain/problem.js';
import type { Committed, Entry, Ledger } from '../../src/ports/ledger.js';
import { header, task, user } from '../contract/store/bench.js';
import { NO_POSTGRES, startPostgres } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 4);

const SCHEMA = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../test/fixtures/store-version-2.sql');

/** The calls of version 2 of the program that a worker needs. */
function olderLedger({ url }: Address): Ledger {
  // One connection, which takes one call at a time.
  const client = new pg.Pool({ connectionString: url, max: 1 });
  const entryOf = (row: { key: string; rev: string; value: string; live: boolean }): Entry => ({
    ...{ key: row.key, rev: Number(row.rev), value: decode(row.value), live: row.live },
  });
  return {
    async commit(id, { puts, adds }, guard) {
      const put = puts.map(({ key, value, live, expect, tag, atMost }) => ({
        ...{ k: key, v: encode(value), l: live, e: expect, t: tag, m: atMost },
      }));
      const add = adds.map(({ log, text, expect, tag }) => ({ g: log, x: encode(text), e: expect, t: tag }));
      const values = [id, guard ?? null, JSON.stringify(put), JSON.stringify(add)];
      const { rows } = await client.query('select older.guild_commit($1, $2, $3, $4) as said', values);
      const { said } = rows[0] as { said: 'fenced' | { p: (number | null)[]; a: (number | null)[] } };
      if (said === 'fenced') return said;
      const places = (all: (number | null)[]): Committed['puts'] => all.map((place) => place ?? undefined);
      return { puts: places(said.p), adds: places(said.a) };
    },
    count: async () => 0,
    async get(key) {
      const { rows } = await client.query('select key, rev, value, live from older.entry where key = $1', [key]);
      return (rows as Parameters<typeof entryOf>[0][]).map(entryOf)[0];
    },
    async news() {
      const { rows } = await client.query('select key, rev, value, live from older.entry where live');
      return { entries: (rows as Parameters<typeof entryOf>[0][]).map(entryOf), isComplete: true };
    },
    async lines(log, { after = 0 } = {}) {
      const text = 'select n, text from older.line where log = $1 and n > $2 order by n';
      const rows = (await client.query(text, [log, after])).rows as { n: string; text: string }[];
      return { texts: rows.map((line) => decode(line.text)), end: Number(rows.at(-1)?.n ?? after) };
    },
    list: async () => [],
    grown: async () => ({ logs: [], mark: '0' }),
    newLines: async () => ({ logs: new Map(), mark: '0' }),
    onRing: async () => async () => undefined,
    ring() {},
    hasten() {},
    close: () => client.end(),
  };
}

function worker(ledger: Ledger, host: string): FarStore {
  return far({ ledger, clock: clock(), ids: ids(), me: { host, bootId: host, pid: 1, startTime: '0' } });
}

/** Claims and ends what it can until it is stopped. `ended`: the tasks that it ended. */
async function work(store: FarStore, ended: string[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await store.tasks.scan();
    const open = [...store.tasks.open()].filter(({ state }) => state === 'pending');
    await Promise.all(
      open.slice(0, 8).map(async ({ task: { id } }) => {
        const claim = await store.tasks.claim(id, 'ana');
        if (claim === undefined) return;
        await store.sessions.create(header(`ana-${id}`), [user('hello')], { durable: false });
        store.events.append({ at: new Date().toISOString(), name: 'task.claimed', task: id });
        store.events.append({ at: new Date().toISOString(), name: 'task.completed', task: id });
        if (await store.tasks.settle(claim, { ...claim.task, result: store.presence.peer.host }, 'completed'))
          ended.push(id);
      }),
    );
    await new Promise(setImmediate);
  }
}

test('a worker of the version before and one of this version share the work', { skip: NO_POSTGRES }, async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  await server.sql(fs.readFileSync(SCHEMA, 'utf8'));
  const address = readAddress(`${server.url}?schema=older`, { from: 'test', mayHavePassword: false });
  const [desk, older] = [olderLedger(address), worker(olderLedger(address), 'older')];
  let made = 0;
  const add = async (count: number): Promise<void> => {
    const puts = Array.from({ length: count }, () => {
      const id = `t${++made}`;
      const value = JSON.stringify({ task: task(id), state: 'pending' });
      return { key: `task/${id}`, value, live: true, expect: 0 };
    });
    await desk.commit(`add-${made}`, { puts, adds: [] });
  };
  let isOver = false;
  const [old, young]: [string[], string[]] = [[], []];
  await add(40);
  const byOlder = work(older, old, () => isOver);
  const isEmpty = async (): Promise<boolean> =>
    (await desk.news()).entries.every(({ key }) => !key.startsWith('task/'));
  await until(isEmpty);
  const early = postgresLedger({ address, clock: clock() });
  const refused = await early.news().catch((thrown: unknown) => asProblem(thrown));
  assert.ok('message' in refused && /version 2, and this program needs \d/.test(refused.message), 'not upgraded yet');
  await early.close();

  const upgrade = upgradeStore(address);
  await add(40);
  assert.equal((await upgrade).from, 2);
  const newer = worker(postgresLedger({ address, clock: clock() }), 'newer');
  await newer.tasks.scan();
  const byNewer = work(newer, young, () => isOver);
  do {
    await add(200);
    await until(isEmpty);
  } while (young.length === 0);
  isOver = true;
  await Promise.all([byOlder, byNewer]);
  await older.flush();
  await newer.flush();

  assert.deepEqual([...old, ...young].sort(), Array.from({ length: made }, (_, n) => `t${n + 1}`).sort(), 'each once');
  assert.ok(old.length >= 40, `${old.length} by the older and ${young.length} by the newer worker`);
  const { texts } = await desk.lines('events');
  assert.equal(texts.length, made * 2, 'no event is lost, and none is there twice');
  assert.ok((await newer.sessions.open(`ana-${old[0]!}`)).kind === 'open', 'the newer reads what the older wrote');
  assert.ok((await older.sessions.open(`ana-${young[0]!}`)).kind === 'open', 'and the older what the newer wrote');
  await Promise.all([older.close(), newer.close(), desk.close()]);
});
