/** Opens the store of a workspace that several machines share, and the ports that live on it. */
import path from 'node:path';
import { ledgerBus } from '../../adapters/bus/ledger.js';
import { checkIns } from '../../adapters/check-ins/index.js';
import { far, type FarStore } from '../../adapters/far/index.js';
import { farBids } from '../../adapters/far/ports/bids.js';
import { CHECK_IN, farCheckIns } from '../../adapters/far/ports/check-ins.js';
import { farCreationRate } from '../../adapters/far/ports/creation-rate.js';
import { farPauses, PAUSED } from '../../adapters/far/ports/pauses.js';
import { witness } from '../../adapters/far/witness.js';
import { ledgerState, memoryLedger } from '../../adapters/ledger/memory.js';
import { readAddress } from '../../adapters/ledger/postgres/address.js';
import { postgresLedger } from '../../adapters/ledger/postgres/index.js';
import { pauses } from '../../adapters/pauses/index.js';
import type { Config } from '../../domain/config/config.js';
import { whereabouts, type Peer } from '../../domain/peer.js';
import type { Ports } from '../../engine/core/context.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Pauses } from '../../ports/pauses.js';
import type { Processes } from '../../ports/processes.js';
import { addToRecords } from '../../rules/staffing/track-record.js';

type Env = Readonly<Record<string, string | undefined>>;

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
  /** How long a call may take before it fails; default: a worker's patience. */
  patienceMs?: number;
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
    leaseMs: config.coordination.leaseMs,
    witness: witness(disk, path.join(root, '.guild', 'witness'), () => clock.now()),
  });
}

function ledgerAt({ config, env, clock, patienceMs }: FarGround): Ledger {
  const address = storeOf(config, env);
  if (address === 'memory:') return memoryLedger(ledgerState());
  const isFromEnv = Boolean(env['GUILD_STORE']);
  const from = isFromEnv ? 'GUILD_STORE' : 'guild.yaml';
  return postgresLedger({
    address: readAddress(address, { from, mayHavePassword: isFromEnv }),
    clock,
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
}

/** The ports besides the store whose state all processes share. */
export type SharedPorts = Pick<Ports, 'bus' | 'pauses' | 'creationRate' | 'bids' | 'checkIns'>;

export function farPorts(
  { far: parts }: FarStore,
  ground: Pick<FarGround, 'root' | 'disk' | 'clock'>,
  peer: string,
): SharedPorts {
  const { root, disk, clock } = ground;
  return {
    bus: ledgerBus({ ...parts, clock }),
    pauses: both(pauses({ root, disk, clock }), farPauses(parts.shelf(PAUSED))),
    creationRate: farCreationRate(parts.onNew),
    bids: farBids({ ...parts, fold: addToRecords }),
    checkIns: farCheckIns(parts.shelf(CHECK_IN), checkIns({ root, disk, peer })),
  };
}

/** A pause on this machine holds here; one in the store holds everywhere. */
function both(here: Pauses, everywhere: Pauses): Pauses {
  const merged = (
    some: ReadonlyMap<string, string>,
    others: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, string> => (some.size === 0 ? others : new Map([...others, ...some]));
  return {
    look: () => merged(here.look(), everywhere.look()),
    all: () => merged(here.all(), everywhere.all()),
    tasks: () => merged(here.tasks(), everywhere.tasks()),
    isPaused: (agent) => here.isPaused(agent) || everywhere.isPaused(agent),
    isTaskPaused: (task) => here.isTaskPaused(task) || everywhere.isTaskPaused(task),
  };
}
