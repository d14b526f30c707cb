/** The checks of a new connection to the server before it is used. */
import type { Client } from 'pg';
import { ProblemError, problemError } from '../../../domain/problem.js';
import type { Address } from './address.js';
import { noSchema } from './problems.js';
import { SCHEMA_VERSION } from './schema.js';

/** Throws a Problem unless this program can work with the schema. */
export async function checkVersion(client: Client, { schema, shown }: Address): Promise<void> {
  const { rows } = await client.query(`select version, oldest from ${schema}.about`);
  const about = rows[0] as { version: number; oldest: number } | undefined;
  if (about === undefined) throw new ProblemError(noSchema(shown));
  const refuse = (message: string, hint: string): ProblemError =>
    problemError('store_refused', `the schema has version ${about.version}, ${message} (${shown})`, { hint });
  if (about.version < SCHEMA_VERSION)
    throw refuse(`and this program needs ${SCHEMA_VERSION}`, 'run guild store upgrade');
  if (about.oldest > SCHEMA_VERSION)
    throw refuse('which this program does not know', 'install a newer version of guildhall on this machine');
}

/**
 * Whether a pooler lends each transaction another connection. An idle connection then has no
 * process on the server, so a second one gets the same process.
 */
export async function isLent(client: Client, { url }: Address): Promise<boolean> {
  const { default: pg } = await import('#pg');
  const other = new pg.Client({ connectionString: url });
  other.on('error', () => undefined);
  await other.connect();
  try {
    for (let tries = 0; tries < 5; tries++) if ((await pidOf(client)) === (await pidOf(other))) return true;
    return false;
  } finally {
    await other.end().catch(() => undefined);
  }
}

export async function pidOf(client: Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return (rows[0] as { pid: number }).pid;
}
