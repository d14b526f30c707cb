/** Messages for a person when the database refuses, and the rights of each role. */
import assert from 'node:assert/strict';
import { removedRow } from '../../src/adapters/far/rows.js';
import type { Task } from '../../src/domain/task/task.js';
import { after, before } from 'node:test';
import pg from 'pg';
import { clock } from '../../src/adapters/clock/index.js';
import { readAddress, type Address } from '../../src/adapters/ledger/postgres/address.js';
import { initStore, upgradeStore } from '../../src/adapters/ledger/postgres/make-store.js';
import { postgresLedger } from '../../src/adapters/ledger/postgres/index.js';
import { asProblem, type Problem } from '../../src/domain/problem.js';
import type { Committed, Ledger, Put } from '../../src/ports/ledger.js';
import { NO_POSTGRES, startPooler, startPostgres, type Postgres } from '../kit/postgres/server.js';
import { place, scripted, whileRunning, type Spawned } from '../kit/guild.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/refused', 4);

const options = { skip: NO_POSTGRES };
let server: Postgres;
before(async () => {
  if (NO_POSTGRES !== false) return;
  server = await startPostgres({ access: 'host all secret 127.0.0.1/32 scram-sha-256' });
  await server.sql(`create role secret login password 'right'; create role stranger login`);
  await initStore(at(), 'w');
  for (const role of ['worker', 'desk', 'reader']) {
    await server.sql(`create role one_${role} login; grant guild_${role} to one_${role}`);
  }
  await server.sql('grant guild_worker to secret');
});
after(() => server?.stop());

function at(more: { user?: string; schema?: string; database?: string; password?: string } = {}): Address {
  const { user = 'guild', schema = 'guild', database = 'postgres', password = '' } = more;
  const text = `postgres://${user}${password && `:${password}`}@127.0.0.1:${server.port}/${database}?schema=${schema}`;
  return readAddress(text, { from: 'test', mayHavePassword: true });
}

async function opened<T>(address: Address, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = postgresLedger({ address, clock: clock(), patienceMs: 1000 });
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

async function refusal(call: Promise<unknown>): Promise<Problem> {
  return call.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => asProblem(thrown),
  );
}

function says({ code, message, hint }: Problem, message_: RegExp, hint_: RegExp): void {
  assert.equal(code, 'store_refused');
  assert.match(message, message_);
  assert.match(hint ?? '', hint_);
}

test('a wrong password, user, database or schema gets one sentence and one next step', options, async () => {
  const news = (address: Address): Promise<Problem> => refusal(opened(address, (ledger) => ledger.news()));
  const wrong = await news(at({ user: 'secret', password: 'wrong' }));
  says(wrong, /refused the log-in/, /PGPASSWORD/);
  assert.ok(!JSON.stringify(wrong).includes('wrong"') && !JSON.stringify(wrong).includes(':wrong'));
  says(await news(at({ user: 'secret' })), /refused the log-in .*: no password was given$/, /PGPASSWORD/);
  says(await news(at({ user: 'nobody_here' })), /refused the log-in/, /PGPASSWORD/);
  says(await news(at({ database: 'none' })), /does not exist/, /createdb/);
  says(await news(at({ schema: 'none' })), /no workspace in this database/, /guild store init/);
  says(await news(at({ user: 'stranger' })), /may not do this/, /grant .*guild_worker/);
});

test('commands that work until they are stopped end with that sentence alone', options, async (t) => {
  const here = place(t, scripted('- {agent: boss, turn: 1, say: done}\n'));
  const given = { env: { GUILD_STORE: at({ user: 'secret', password: 'wrong' }).url } };
  for (const command of [['watch'], ['agent', 'start', 'boss'], ['sync', `${here.root}-desk`]]) {
    const { code, err } = await here.spawnWith(given, ...command).ended;
    assert.equal(code, 1);
    assert.match(err, /^(watching .*\n)?problem: the database refused the log-in.*\n  set PGPASSWORD.*\n$/);
  }
});

test('a worker says that it waits for the database, and that a pooler makes it slower', options, async (t) => {
  const here = place(t, scripted('- {agent: boss, turn: 1, say: done}\n'));
  const pooler = (await startPooler(server, 'transaction'))!;
  const watch = (port: number): Spawned =>
    here.spawnWith({ env: { GUILD_STORE: `${server.at(port)}?schema=guild` } }, 'watch');
  const pooled = watch(pooler.port);
  await whileRunning([pooled], pooled.says(/problem: the database is behind a pooler in transaction mode/));
  await pooler.stop();
  await whileRunning([pooled], pooled.says(/problem: the database does not answer .*\n  work continues by itself/));
  pooled.child.kill('SIGKILL');
  await pooled.ended;
});

test('an address in a file names no password and is one of PostgreSQL', () => {
  const wrong = ['postgres://u:p@h/d', 'mysql://u@h/d', 'postgres://', 'postgres://h', 'postgres://h/d?schema=A b'];
  for (const text of wrong) {
    assert.throws(
      () => readAddress(text, { from: 'guild.yaml', mayHavePassword: false }),
      (thrown) => {
        const { code, hint, message } = asProblem(thrown);
        return code === 'bad_field' && hint !== undefined && message.startsWith('guild.yaml: ');
      },
      text,
    );
  }
});

test('a schema of another version is named, and upgrade brings an older one up to date', options, async () => {
  const address = at({ schema: 'versions' });
  await initStore(address, 'w');
  assert.deepEqual((await initStore(address, 'w')).from, 4, 'twice is harmless');
  const news = (): Promise<Problem> => refusal(opened(address, (ledger) => ledger.news()));
  await server.sql('update versions.about set version = 0');
  says(await news(), /version 0, and this program needs 4/, /guild store upgrade/);
  await server.sql('update versions.about set version = 9, oldest = 8');
  says(await news(), /version 9, which this program does not know/, /newer version of guildhall/);
  await server.sql('update versions.about set version = 9, oldest = 1');
  await opened(address, (ledger) => ledger.news());
  says(await refusal(upgradeStore(address)), /version 9, and this program knows 4/, /newest guildhall/);
  says(await refusal(upgradeStore(at({ schema: 'none' }))), /no workspace in this database/, /store init/);
});

test('a reader reads, a worker works, and only a desk publishes, pauses and answers', options, async () => {
  const put = (user: string, key: string, value = '{}'): Promise<unknown> => {
    const one: Put = { key, value, live: true };
    const id = `${user} ${key} ${Math.random()}`;
    return opened(at({ user }), (ledger) => ledger.commit(id, { puts: [one], adds: [] }));
  };
  await put('one_worker', 'task/a');
  await put('one_worker', 'intent/tell', '{"kind":"tell"}');
  await opened(at({ user: 'one_reader' }), (ledger) => ledger.news());
  says(await refusal(put('one_reader', 'task/a')), /may not do this/, /guild_worker/);
  for (const key of ['definitions', 'paused/ana', 'keys/desk-1']) {
    says(await refusal(put('one_worker', key)), new RegExp(`a worker may not write ${key}`), /guild_desk/);
    await put('one_desk', key);
  }
  says(await refusal(put('one_worker', 'intent/yes', '{"kind":"answer"}')), /may not answer/, /guild_desk/);
  await put('one_desk', 'intent/yes', '{"kind":"answer"}');
  const client = new pg.Client({ connectionString: at({ user: 'one_worker' }).url });
  await client.connect();
  const direct = await refusal(client.query(`update guild.entry set value = ''`));
  await client.end();
  assert.match(direct.message, /permission denied/, 'the function is the only way to write');
});

test('a worker changes neither a task that another process holds nor what a task asks for', options, async () => {
  await server.sql('create role two_worker login; grant guild_worker to two_worker');
  const commit = (user: string, one: Put, guard?: string): Promise<Committed | 'fenced'> =>
    opened(at({ user }), (ledger) => ledger.commit(`${user} ${Math.random()}`, { puts: [one], adds: [] }, guard));
  const task = { id: 'held', root: 'held', role: 'root', description: 'Pay Ana \u0000 5', created_by: 'human' };
  const held = (owner?: string, more: object = {}): Put => ({
    key: 'task/held',
    value: JSON.stringify({
      task: { ...task, ...more },
      state: 'active',
      ...(owner ? { owner: { peer: owner } } : {}),
    }),
    live: true,
  });
  await commit('one_worker', { key: 'peer/p1', value: '{}', live: true, expect: 0 });
  await commit('two_worker', { key: 'peer/p2', value: '{}', live: true, expect: 0 });
  await commit('one_worker', held('p1'), 'peer/p1');
  // A worker tries it under its own name, without a name, and under the name of the holder.
  says(await refusal(commit('two_worker', held('p2'), 'peer/p2')), /task\/held is held by another process/, /grant/);
  says(await refusal(commit('two_worker', held('p2'))), /task\/held is held by another process/, /grant/);
  says(await refusal(commit('two_worker', held('p2'), 'peer/p1')), /peer\/p1 is a process of another user/, /grant/);
  says(
    await refusal(commit('two_worker', { key: 'peer/p1', value: '{}', live: true })),
    /peer\/p1 is a process of another user/,
    /grant/,
  );
  const rewritten = held('p1', { description: 'Pay Bob 500' });
  says(await refusal(commit('one_worker', rewritten, 'peer/p1')), /a worker may not rewrite task\/held/, /grant/);
  const hidden = { key: 'task/held', ...removedRow({ task: task as unknown as Task, state: 'active' }) };
  says(await refusal(commit('one_worker', hidden, 'peer/p1')), /a worker may not remove task\/held/, /grant/);
  // A worker's daily writes still work: its own task, and the task of a process declared dead.
  await commit('one_worker', held('p1', { attempts: 1 }), 'peer/p1');
  await commit('two_worker', { key: 'peer/p1', value: '{}', live: false });
  assert.equal(await commit('one_worker', held('p1'), 'peer/p1'), 'fenced');
  await commit('two_worker', held('p2', { attempts: 2 }), 'peer/p2');
  await commit('one_desk', held(undefined, { description: 'Pay Ana 6' }));
});

test('no user can make a commit of another one count as done by guessing its id', options, async () => {
  const commit = (user: string, id: string, puts: Put[]): Promise<Committed | 'fenced'> =>
    opened(at({ user }), (ledger) => ledger.commit(id, { puts, adds: [] }));
  await commit('one_worker', 'desk-1.7', []);
  const pause = { key: 'paused/ben', value: '{}', live: true };
  const made = await commit('one_desk', 'desk-1.7', [pause]);
  assert.ok(made !== 'fenced' && made.puts.length === 1);
  assert.deepEqual(await commit('one_desk', 'desk-1.7', [pause]), made, 'its own retry is answered');
  const entries = await opened(at({ user: 'one_reader' }), (ledger) => ledger.list('paused/ben', { live: true }));
  assert.equal(entries.length, 1);
});

test('a store of version 1 is upgraded in place, with its work', options, async () => {
  const address = at({ schema: 'older' });
  await initStore(address, 'w');
  await server.sql(
    `alter table older.entry drop column writer; alter table older.done drop constraint done_pkey;
     alter table older.done drop column writer; alter table older.done add primary key (id);
     update older.about set version = 1`,
  );
  says(await refusal(opened(address, (ledger) => ledger.news())), /version 1, and this program needs 4/, /upgrade/);
  await server.sql(
    `insert into older.entry(key, rev, value, live, xid, at)
     values ('task/a', nextval('older.rev'), '{}', true, pg_current_xact_id(), now())`,
  );
  assert.deepEqual([(await upgradeStore(address)).from, (await upgradeStore(address)).to], [1, 4]);
  await opened(address, async (ledger) => {
    assert.deepEqual(
      (await ledger.news()).entries.map(({ key }) => key),
      ['task/a'],
    );
    await ledger.commit('after', { puts: [{ key: 'task/b', value: '{}', live: true }], adds: [] });
  });
});

test('texts that PostgreSQL cannot hold come back as they were', options, async () => {
  const odd = ['nul \u0000 here', '\u0001 first', 'half \ud800 pair', '"\u0001"', ''];
  await opened(at(), async (ledger) => {
    await ledger.commit('odd', { puts: [], adds: odd.map((text) => ({ log: 'odd', text })) });
    assert.deepEqual((await ledger.lines('odd')).texts, odd);
  });
});

test('a pooler in transaction mode is named, one in session mode is not', options, async () => {
  for (const mode of ['session', 'transaction'] as const) {
    const pooler = (await startPooler(server, mode))!;
    const notices: Problem[] = [];
    const address = readAddress(server.at(pooler.port), { from: 'test', mayHavePassword: false });
    const ledger = postgresLedger({ address, clock: clock(), onProblem: (problem) => notices.push(problem) });
    let rings = 0;
    await ledger.onRing(() => rings++);
    await ledger.news();
    await opened(at(), (other) => other.commit(`pooled ${mode}`, { puts: [], adds: [{ log: 'pooled', text: 'x' }] }));
    await until(() => rings > 0);
    assert.equal(notices.length, mode === 'session' ? 0 : 1);
    if (mode === 'transaction') says(notices[0]!, /pooler in transaction mode/, /use session mode/);
    await ledger.close();
    await pooler.stop();
  }
});
