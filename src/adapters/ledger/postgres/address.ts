/**
 * The address of a store in PostgreSQL: `postgres://user@host:port/database?schema=name`. The
 * schema holds one workspace; without one it is `guild`.
 */
import { attempt } from '../../../domain/attempt.js';
import { type ProblemError, problemError } from '../../../domain/problem.js';

export interface Address {
  /** Without the schema, as the database client reads it. */
  readonly url: string;
  readonly schema: string;
  /** For people: without password and parameters. */
  readonly shown: string;
}

interface AddressOptions {
  /** Where the address comes from, for messages. */
  from: string;
  /** The environment may hold a password; a file that travels with Git may not. */
  mayHavePassword: boolean;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;

export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

export function readAddress(text: string, { from, mayHavePassword }: AddressOptions): Address {
  const url = URL.parse?.(text) ?? parse(text);
  const bad = (message: string, hint: string): ProblemError =>
    problemError('bad_field', `${from}: ${message}`, { hint });
  const example = 'write it as postgres://user@host:5432/database?schema=team';
  if (url === undefined || !isPostgresAddress(text)) throw bad('this is not an address of PostgreSQL', example);
  if (url.hostname === '' || url.pathname.length < 2) throw bad('the address names no host or no database', example);
  if (url.password !== '' && !mayHavePassword) {
    throw bad(
      'the address contains a password',
      'remove it from the address and set PGPASSWORD, or add a line to ~/.pgpass',
    );
  }
  const schema = url.searchParams.get('schema') ?? 'guild';
  if (!SCHEMA.test(schema) || schema.startsWith('pg_')) {
    throw bad(`${JSON.stringify(schema)} cannot be a schema`, 'use lower-case letters, digits and _');
  }
  url.searchParams.delete('schema');
  const user = url.username === '' ? '' : `${url.username}@`;
  return { url: url.href, schema, shown: `postgres://${user}${url.host}${url.pathname}, schema ${schema}` };
}

function parse(text: string): URL | undefined {
  return attempt(() => new URL(text));
}
