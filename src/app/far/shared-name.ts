/** The name of a shared store in signatures, which is the same on every machine. */
import { isPostgresAddress, readAddress, type Address } from '../../adapters/ledger/postgres/address.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { storeOf } from './open-store.js';

/** Undefined: the work is in this folder. */
export function sharedName(config: Pick<Config, 'store'>, env: Env): string | undefined {
  const store = storeOf(config, env);
  if (store === 'files' || !isPostgresAddress(store)) return undefined;
  return storeName(readAddress(store, { from: 'store', mayHavePassword: true }));
}

export function storeName({ url, schema }: Pick<Address, 'url' | 'schema'>): string {
  return `store ${new URL(url).pathname.slice(1)}/${schema}`;
}
