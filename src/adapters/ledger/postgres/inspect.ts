/** The findings of `guild doctor` about a store: whether its server can keep the promises. */
import type { Client } from 'pg';
import type { Address } from './address.js';
import { withClient } from './make-store.js';
import { checkVersion, isLent, pidOf } from './check-server.js';
import { ROLES, roleName } from './schema.js';

interface StoreFinding {
  name: string;
  verdict: 'good' | 'odd' | 'bad';
  text: string;
}

export async function inspectStore(address: Address): Promise<StoreFinding[]> {
  return withClient(address, async (client) => {
    await checkVersion(client, address);
    return [
      await server(client, address),
      await latency(client),
      await durability(client),
      await replication(client),
      await connections(client),
      await role(client, address),
      await clocks(client),
    ];
  });
}

async function server(client: Client, address: Address): Promise<StoreFinding> {
  const { server_version: version } = await one(client, 'show server_version');
  const about = `PostgreSQL ${String(version)}, ${address.shown}`;
  const isDirect = (client as unknown as { processID: number }).processID === (await pidOf(client));
  if (!isDirect && (await isLent(client, address))) {
    const text = `${about}, behind a pooler in transaction mode: changes of other machines are seen later; use session mode`;
    return { name: 'store', verdict: 'odd', text };
  }
  return { name: 'store', verdict: 'good', text: isDirect ? about : `${about}, behind a pooler in session mode` };
}

const ROUNDS = 21;
const SLOW_MS = 10;

async function latency(client: Client): Promise<StoreFinding> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    await client.query('select 1');
    times.push(performance.now() - from);
  }
  const ms = times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
  const text = `a round trip takes ${ms.toFixed(1)} ms; a run waits for about four of them`;
  return { name: 'latency', verdict: ms > SLOW_MS ? 'odd' : 'good', text };
}

async function durability(client: Client): Promise<StoreFinding> {
  const off: string[] = [];
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit'])
    if ((await one(client, `show ${name}`))[name] === 'off') off.push(name);
  if (off.length === 0) return { name: 'durability', verdict: 'good', text: 'acknowledged commits are on the disk' };
  const text = `${off.join(' and ')} is off: a crash of the server may lose acknowledged work; turn it on`;
  return { name: 'durability', verdict: 'bad', text };
}

async function replication(client: Client): Promise<StoreFinding> {
  const { synchronous_standby_names: names } = await one(client, 'show synchronous_standby_names');
  const { rows } = await client.query('select sync_state from pg_stat_replication');
  const states = (rows as { sync_state: string | null }[]).map(({ sync_state: state }) => state);
  const name = 'replication';
  if (names !== '') return { name, verdict: 'good', text: `synchronous: ${String(names)}` };
  if (states.length === 0) return { name, verdict: 'good', text: 'no standby; back the database up' };
  const text = 'the standby is asynchronous: a failover may undo what was reported in the last seconds';
  return { name, verdict: 'odd', text };
}

async function connections(client: Client): Promise<StoreFinding> {
  const { used, most } = await one(
    client,
    `select (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as used,
      current_setting('max_connections')::int as most`,
  );
  const text = `${String(used)} of ${String(most)} are used; a command or a worker needs two, a desk four`;
  return { name: 'connections', verdict: Number(used) > 0.8 * Number(most) ? 'odd' : 'good', text };
}

async function role(client: Client, { schema }: Address): Promise<StoreFinding> {
  const has = ROLES.map((each) => `pg_has_role('${roleName(schema, each)}', 'member') as ${each}`).join(', ');
  const { worker, desk, reader, name } = await one(client, `select current_user as name, ${has}`);
  if (!reader) {
    const roles = ROLES.map((each) => roleName(schema, each)).join(', ');
    return { name: 'role', verdict: 'odd', text: `${String(name)} has no role here; grant it one of ${roles}` };
  }
  const may = desk ? 'work, publish and answer for people' : worker ? 'work' : 'only read';
  return { name: 'role', verdict: 'good', text: `${String(name)} may ${may}` };
}

/** Only information: nothing compares clocks of two machines. */
async function clocks(client: Client): Promise<StoreFinding> {
  const before = Date.now();
  const { now } = await one(client, `select extract(epoch from clock_timestamp()) * 1000 as now`);
  const aheadMs = Math.round(Number(now) - (before + Date.now()) / 2);
  const text = `the server's clock is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead'}; nothing depends on that`;
  return { name: 'clock', verdict: 'good', text };
}

async function one(client: Client, text: string): Promise<Record<string, unknown>> {
  return ((await client.query(text)).rows[0] ?? {}) as Record<string, unknown>;
}
