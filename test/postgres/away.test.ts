/** The ledger while its server is restarted, frozen, cut off, replaced or read-only. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { asProblem } from '../../src/domain/problem.js';
import type { Change, Ledger } from '../../src/ports/ledger.js';
import { NO_POSTGRES, sharedPostgres } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { wire } from '../kit/postgres/wire.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/away', 4);

const options = { skip: NO_POSTGRES };
const line = (text: string): Change => ({ puts: [], adds: [{ log: 'l', text }] });
const code = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (thrown: unknown) => asProblem(thrown).code,
  );

test('commits survive crashes of the server, each carried out once', options, async () => {
  const { server, open, end } = await field();
  const ledger = await open();
  let isOver = false;
  const writing = (async () => {
    let n = 0;
    for (; !isOver; n++) assert.notEqual(await ledger.commit(`c${n}`, line(String(n))), 'fenced');
    return n;
  })();
  for (let times = 0; times < 3; times++) {
    const { end: before } = await ledger.lines('l');
    await until(async () => (await ledger.lines('l')).end > before + 5);
    await server.restart('immediate');
  }
  isOver = true;
  const written = await writing;
  assert.deepEqual((await ledger.lines('l')).texts, [...Array(written).keys()].map(String));
  assert.equal((await ledger.news()).isComplete, true);
  await ledger.close();
  await end();
});

test('a commit whose answer is lost is asked again and carried out once', options, async () => {
  const { server, open, end } = await field();
  const cable = await wire(server.port);
  const ledger = await open({ port: cable.port });
  const other = await open();
  await ledger.commit('first', line('first'));
  await ledger.news();
  cable.cut('in');
  const answer = ledger.commit('second', line('second'));
  await until(async () => (await other.lines('l')).texts.length === 2);
  cable.drop();
  cable.heal();
  assert.notEqual(await answer, 'fenced');
  assert.deepEqual((await other.lines('l')).texts, ['first', 'second']);
  assert.equal((await ledger.news()).isComplete, true, 'after a loss everything is read again');
  assert.equal((await ledger.news()).isComplete, false);
  await Promise.all([ledger.close(), other.close()]);
  await cable.close();
  await end();
});

test('notifications arrive again after the server was away', options, async () => {
  const { server, open, end } = await field();
  const [first, second] = [await open(), await open()];
  let rings = 0;
  await second.onRing(() => rings++);
  await server.restart('fast');
  await second.news();
  const before = rings;
  await first.commit('x', line('x'));
  await until(() => rings > before);
  await Promise.all([first.close(), second.close()]);
  await end();
});

test('a server frozen for a while costs nothing but the time', options, async () => {
  const { server, open, end } = await field();
  const ledger = await open();
  await ledger.commit('first', line('first'));
  await server.freeze();
  let isAnswered = false;
  const answer = ledger.commit('second', line('second')).finally(() => (isAnswered = true));
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(isAnswered, false);
  await server.thaw();
  assert.notEqual(await answer, 'fenced');
  assert.equal((await ledger.news()).isComplete, true);
  assert.equal((await ledger.news()).isComplete, false);
  await ledger.close();
  await end();
});

test('a standby that took over without acknowledged changes ends the process', options, async () => {
  const { server, schema, open, end } = await field();
  const ledger = await open();
  await ledger.commit('told', line('told'));
  // To this process, a promoted standby is a server that it must connect to again and that lacks
  // the end of the log.
  await server.sql(`delete from ${schema}.done; delete from ${schema}.line; delete from ${schema}.log`);
  assert.equal(await code(ledger.commit('before', line('x'))), 'ok', 'the connection was never lost');
  await server.sql(`delete from ${schema}.done`);
  await server.restart('fast');
  assert.equal(await code(ledger.commit('after', line('y'))), 'declared_dead');
  assert.equal(await code(ledger.news()), 'declared_dead');
  const fresh = await open();
  assert.equal(await code(fresh.commit('fresh', line('z'))), 'ok');
  await Promise.all([ledger.close(), fresh.close()]);
  await end();
});

test('a server that is read-only for a while is waited for', options, async () => {
  const { server, open, end } = await field();
  await server.sql('alter system set default_transaction_read_only = on');
  await server.sql('select pg_reload_conf()');
  const ledger = await open();
  const answer = ledger.commit('x', line('x'));
  await until(
    async () => (await server.sql(`show default_transaction_read_only`))[0]!['default_transaction_read_only'] === 'on',
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  await server.sql('alter system reset default_transaction_read_only');
  await server.sql('select pg_reload_conf()');
  assert.notEqual(await answer, 'fenced');
  await ledger.close();
  await end();
});

test('a server that stays away is reported, and work continues when it is back', options, async () => {
  const { open, end } = await field();
  const server = await sharedPostgres();
  const ledger: Ledger = await open({ patienceMs: 200 });
  await ledger.commit('first', line('first'));
  await server.halt('fast');
  try {
    const thrown = await ledger.commit('second', line('second')).catch((error: unknown) => asProblem(error));
    assert.match(JSON.stringify(thrown), /store_away.*does not answer.*continues by itself/);
    assert.ok(!JSON.stringify(thrown).includes('password'));
  } finally {
    await server.start();
  }
  assert.notEqual(await ledger.commit('second', line('second')), 'fenced');
  assert.deepEqual((await ledger.lines('l')).texts, ['first', 'second']);
  await ledger.close();
  await end();
});

test('connections that are used up are waited for', options, async () => {
  const { server, open, end } = await field();
  const most = Number((await server.sql('show max_connections'))[0]!['max_connections']);
  const crowd: pg.Client[] = [];
  for (let n = 0; n < most; n++) {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    if (
      await client.connect().then(
        () => true,
        () => false,
      )
    )
      crowd.push(client);
  }
  const late = await open();
  let isAnswered = false;
  const waiting = late.commit('late', line('late')).finally(() => (isAnswered = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(isAnswered, false);
  await Promise.all(crowd.map((client) => client.end()));
  assert.notEqual(await waiting, 'fenced');
  await late.close();
  await end();
});
