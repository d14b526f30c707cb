/** The ports besides the store that live on the same ledger. */
import { ledgerBus } from '../../adapters/bus/ledger.js';
import { checkIns } from '../../adapters/check-ins/index.js';
import type { FarStore } from '../../adapters/far/index.js';
import { farBids } from '../../adapters/far/ports/bids.js';
import { CHECK_IN, farCheckIns } from '../../adapters/far/ports/check-ins.js';
import { farCreationRate } from '../../adapters/far/ports/creation-rate.js';
import { farPauses, PAUSED } from '../../adapters/far/ports/pauses.js';
import { pauses } from '../../adapters/pauses/index.js';
import type { Ports } from '../../engine/core/context.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { Pauses } from '../../ports/pauses.js';
import { addToRecords } from '../../rules/staffing/track-record.js';

/** The ports besides the store whose state all processes share. */
export type SharedPorts = Pick<Ports, 'bus' | 'pauses' | 'creationRate' | 'bids' | 'checkIns'>;

export function farPorts(
  { far: parts }: FarStore,
  ground: { root: string; disk: Disk; clock: Clock },
  peer: string,
): SharedPorts {
  const { root, disk, clock } = ground;
  return {
    bus: ledgerBus({ ...parts, clock }),
    pauses: bothPauses(pauses({ root, disk, clock }), farPauses(parts.shelf(PAUSED))),
    creationRate: farCreationRate(parts.onNew),
    bids: farBids({ ...parts, fold: addToRecords }),
    checkIns: farCheckIns(parts.shelf(CHECK_IN), checkIns({ root, disk, peer })),
  };
}

/** A pause on this machine holds here; one in the store holds everywhere. */
export function bothPauses(here: Pauses, everywhere: Pauses): Pauses {
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
