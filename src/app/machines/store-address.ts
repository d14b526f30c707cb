/** The address of the store of a workspace, and the calls that need only that address. */
import type { Env } from '../../domain/config/env.js';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { isPostgresAddress, readAddress, type Address } from '../../adapters/ledger/postgres/address.js';
import { postgresLedger } from '../../adapters/ledger/postgres/index.js';
import { requireTrustedStore } from '../../adapters/trust/trusted-parts.js';
import { ProblemError, problemError } from '../../domain/problem.js';
import type { Ledger } from '../../ports/ledger.js';
import { readConfig } from '../readers/read-config.js';

export type { Address };

/** `given`: from the command line. The environment comes before guild.yaml. */
export function storeAddress(root: string, env: Env, given?: string): Address {
  if (given !== undefined) return readAddress(given, { from: '--store', mayHavePassword: false });
  const own = env['GUILD_STORE'];
  if (own !== undefined && isPostgresAddress(own))
    return readAddress(own, { from: 'GUILD_STORE', mayHavePassword: true });
  const { config, unreadable } = readConfig(disk(), root, env);
  if (unreadable) throw new ProblemError(unreadable);
  if (isPostgresAddress(config.store)) {
    const address = readAddress(config.store, { from: 'guild.yaml', mayHavePassword: false });
    requireTrustedStore(disk(), root, env, config.store);
    return address;
  }
  throw problemError('bad_usage', 'this workspace is kept in files, and no store is named', {
    hint: 'write store: postgres://user@host/database into guild.yaml, set GUILD_STORE, or use --store',
  });
}

/** Waits for the server as long as a worker does. */
export function ledgerFor(address: Address): Ledger {
  return postgresLedger({ address, clock: clock() });
}

/** Opens the ledger for one command. A failure is reported soon, because a person waits. */
export async function withLedger<T>(address: Address, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = postgresLedger({ address, clock: clock(), patienceMs: COMMAND_PATIENCE_MS });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

const COMMAND_PATIENCE_MS = 5000;
