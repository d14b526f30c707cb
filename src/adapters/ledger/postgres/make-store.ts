/** Makes and upgrades the schema of a workspace. Needs a user who may create schemas and roles. */
import type { Client } from 'pg';
import { problemError } from '../../../domain/problem.js';
import type { Address } from './address.js';
import { databaseProblem } from './problems.js';
import { writers } from './commit-function.js';
import { grants, migrations, ROLES, roleName, SCHEMA_VERSION } from './schema.js';

export interface Made {
  /** The version before; 0: there was no schema. */
  from: number;
  to: number;
  roles: string[];
}

interface Initialized extends Made {
  /** It came from a backup of another server and was adapted to this one. */
  isAdapted: boolean;
}

/** Harmless when repeated: a schema that exists is left alone, unless it was restored here. */
export async function initStore(address: Address, workspace: string): Promise<Initialized> {
  let isAdapted = false;
  const made = await change(address, async (client, from) => {
    if (from > 0) {
      isAdapted = await adapt(client, address.schema);
      return from;
    }
    await migrate(client, address.schema, 0);
    await client.query(`insert into ${address.schema}.about(version, oldest, workspace) values ($1, $2, $3)`, [
      SCHEMA_VERSION,
      1,
      workspace,
    ]);
    return SCHEMA_VERSION;
  });
  return { ...made, isAdapted };
}

/**
 * A backup brings neither the roles nor the counter of transactions of its server. Changes with
 * transaction numbers that this server has not reached yet would be read again with every look.
 */
async function adapt(client: Client, schema: string): Promise<boolean> {
  const { rows } = await client.query(`select rolname from pg_roles where rolname = any($1)`, [
    ROLES.map((role) => roleName(schema, role)),
  ]);
  const lacksRoles = rows.length < ROLES.length;
  if (lacksRoles) await client.query(grants(schema));
  let isLater = false;
  for (const table of ['entry', 'log']) {
    const later = `${schema}.${table} where xid > pg_current_xact_id()`;
    if ((await client.query(`select 1 from ${later} limit 1`)).rows.length === 0) continue;
    isLater = true;
    await client.query(`update ${later.replace('where', 'set xid = pg_current_xact_id() where')}`);
  }
  return lacksRoles || isLater;
}

/** Older programs keep working with the new schema, so machines can be upgraded one by one. */
export async function upgradeStore(address: Address): Promise<Made> {
  return change(address, async (client, from) => {
    if (from === 0) throw Object.assign(new Error('no schema'), { code: '3F000' });
    if (from > SCHEMA_VERSION) {
      throw problemError('store_refused', `the schema has version ${from}, and this program knows ${SCHEMA_VERSION}`, {
        hint: 'run guild store upgrade with the newest guildhall',
      });
    }
    await migrate(client, address.schema, from);
    await client.query(`update ${address.schema}.about set version = $1`, [SCHEMA_VERSION]);
    return SCHEMA_VERSION;
  });
}

async function migrate(client: Client, schema: string, from: number): Promise<void> {
  for (const statements of migrations(schema).slice(from)) await client.query(statements);
  await client.query(writers(schema));
  await client.query(grants(schema));
}

/** One transaction, and one at a time: two machines may run the command at once. */
async function change(address: Address, work: (client: Client, from: number) => Promise<number>): Promise<Made> {
  const { schema } = address;
  return withClient(address, async (client) => {
    await needVersion(client);
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtextextended($1, 1))`, [schema]);
    await client.query(`create schema if not exists ${schema}`);
    const { rows } = await client.query(`select to_regclass($1) as about`, [`${schema}.about`]);
    const isMade = (rows[0] as { about: string | null }).about !== null;
    const from = isMade ? await versionOf(client, schema) : 0;
    const to = await work(client, from);
    await client.query('commit');
    return { from, to, roles: ROLES.map((role) => roleName(schema, role)) };
  });
}

/** One connection for a command; errors are Problems. */
export async function withClient<T>(address: Address, work: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('#pg');
  const client = new pg.Client({ connectionString: address.url, application_name: 'guildhall' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } catch (thrown) {
    throw databaseProblem(thrown, address);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const OLDEST_SERVER = 15;

async function needVersion(client: Client): Promise<void> {
  const { rows } = await client.query('show server_version');
  const { server_version: version } = rows[0] as { server_version: string };
  if (Number.parseInt(version, 10) >= OLDEST_SERVER) return;
  throw problemError(
    'store_refused',
    `the server is PostgreSQL ${version}; Guildhall needs ${OLDEST_SERVER} or newer`,
    {
      hint: 'use a newer server',
    },
  );
}

async function versionOf(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query(`select version from ${schema}.about`);
  return (rows[0] as { version: number } | undefined)?.version ?? 0;
}
