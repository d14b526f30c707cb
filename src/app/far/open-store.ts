/** Opens the store of a workspace that several machines share. */
import type { Env } from '../../domain/config/env.js';
import path from 'node:path';
import { removeAbandonedFiles } from '../../adapters/disk/temp-files.js';
import { far, type FarStore } from '../../adapters/far/index.js';
import { witness } from '../../adapters/far/witness.js';
import { ledgerState, memoryLedger } from '../../adapters/ledger/memory.js';
import { readAddress } from '../../adapters/ledger/postgres/address.js';
import { postgresLedger } from '../../adapters/ledger/postgres/index.js';
import { requireTrustedStore } from '../../adapters/trust/trusted-parts.js';
import type { Config } from '../../domain/config/config.js';
import { whereabouts, type Peer } from '../../domain/peer.js';
import type { Problem } from '../../domain/problem.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Processes } from '../../ports/processes.js';

/** The address of the store, or `files`. The environment comes before guild.yaml. */
export function storeOf(config: Pick<Config, 'store'>, env: Env): string {
  return env['GUILD_STORE'] || config.store;
}

export function isShared(config: Pick<Config, 'store'>, env: Env): boolean {
  return storeOf(config, env) !== 'files';
}

interface FarGround {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  env: Env;
  config: Pick<Config, 'store' | 'coordination'>;
  processes: Processes;
  agents?: string[] | undefined;
  abandoned?: ReadonlySet<string>;
  /** Replaces the ledger that the address names; for tests. */
  ledger?: Ledger | undefined;
  /** How long a call may take before it fails; default: as long as for a worker. */
  patienceMs?: number;
  isReader?: boolean;
  /** Called for something about the database that a person should know. */
  report?: ((problem: Problem) => void) | undefined;
}

export function openFarStore(ground: FarGround): FarStore {
  const { root, disk, clock, ids, config, processes, agents = [], abandoned = new Set<string>() } = ground;
  const me = processes.me();
  const isGone = (peer: Peer): boolean => whereabouts(peer, me) === 'here' && !processes.isAlive(peer);
  return far({
    ledger: ground.ledger ?? ledgerAt(ground),
    clock,
    ids,
    me,
    agents,
    abandoned,
    isGone,
    isReader: ground.isReader ?? false,
    leaseMs: config.coordination.leaseMs,
    witness: witness(disk, path.join(root, '.guild', 'witness'), () => clock.now()),
    sweep: () => removeAbandonedFiles(disk, path.join(root, '.guild', 'tmp')),
  });
}

function ledgerAt({ root, disk, config, env, clock, patienceMs, report }: FarGround): Ledger {
  const address = storeOf(config, env);
  if (address === 'memory:') return memoryLedger(ledgerState());
  const isFromEnv = Boolean(env['GUILD_STORE']);
  const from = isFromEnv ? 'GUILD_STORE' : 'guild.yaml';
  const read = readAddress(address, { from, mayHavePassword: isFromEnv });
  if (!isFromEnv) requireTrustedStore(disk, root, env, address);
  return postgresLedger({
    address: read,
    clock,
    patienceMs,
    onProblem: report,
  });
}
