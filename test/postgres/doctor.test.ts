/** What `guild doctor` says about a store. */
import assert from 'node:assert/strict';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';
import { NO_POSTGRES, startPostgres, type Postgres } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/doctor', 3);

const options = { skip: NO_POSTGRES };

interface Finding {
  name: string;
  verdict: string;
  text: string;
}

async function findings(here: Place, env: Record<string, string> = {}): Promise<Map<string, Finding>> {
  const { out } = await here.guildWith({ env }, 'doctor', '--json');
  const all = JSON.parse(out) as { checks?: Finding[] } | Finding[];
  return new Map((Array.isArray(all) ? all : all.checks!).map((finding) => [finding.name, finding]));
}

function shared(server: Postgres, schema: string): Record<string, string> {
  const files = scripted('- {say: done}\n');
  files['guild.yaml'] += `git: false\nstore: ${server.url}?schema=${schema}\n`;
  return files;
}

test('a sound store is described, and a user without a role learns which one to ask for', options, async (t) => {
  const { server, schema, end } = await field();
  const here = place(t, shared(server, schema));
  const sound = await findings(here);
  for (const name of ['store', 'latency', 'durability', 'replication', 'connections', 'role', 'clock'])
    assert.equal(sound.get(name)?.verdict, 'good', JSON.stringify(sound.get(name)));
  assert.match(sound.get('store')!.text, /PostgreSQL 1[5-9]|PostgreSQL [2-9]\d/);
  assert.match(sound.get('role')!.text, /publish and answer for people/);
  await server.sql(`create role ${schema}_guest login; grant usage on schema ${schema} to ${schema}_guest;
    grant select on all tables in schema ${schema} to ${schema}_guest`);
  const guest = await findings(here, { GUILD_STORE: `${server.at(server.port, `${schema}_guest`)}?schema=${schema}` });
  assert.equal(guest.get('role')?.verdict, 'odd');
  assert.match(guest.get('role')!.text, new RegExp(`${schema}_worker, ${schema}_desk, ${schema}_reader`));
  await end();
  await server.sql(`drop role ${schema}_guest`);
});

test('lost durability is an error, an asynchronous standby and few connections are warnings', options, async (t) => {
  const server = await startPostgres({ settings: 'max_connections = 20' });
  t.after(() => server.stop());
  const { schema } = await field(server);
  const here = place(t, shared(server, schema));
  await server.standby('asynchronous');
  assert.match((await findings(here)).get('replication')!.text, /a failover may undo/);
  await server.sql('alter system set synchronous_commit = off');
  await server.sql('select pg_reload_conf()');
  await until(async () => (await server.sql('show synchronous_commit'))[0]!['synchronous_commit'] === 'off');
  const { code, out } = await here.guild('doctor');
  assert.equal(code, 1);
  assert.match(out, /✗ durability +synchronous_commit is off: a crash of the server may lose acknowledged work/);
});

test('a store that is away or not made is one finding with a next step', options, async (t) => {
  const { server, end } = await field();
  const here = place(t, shared(server, 'never_made'));
  const missing = await here.guild('doctor');
  assert.equal(missing.code, 1);
  assert.match(missing.out, /✗ store .*there is no workspace in this database yet.*guild store init/);
  const away = await here.guildWith({ env: { GUILD_STORE: 'postgres://x@127.0.0.1:1/x' } }, 'doctor');
  assert.match(away.out, /✗ store .*127\.0\.0\.1:1/);
  succeeds(await here.guild('store', 'init'));
  assert.equal((await findings(here)).get('store')?.verdict, 'good');
  await server.sql('drop schema never_made cascade');
  await end();
});
