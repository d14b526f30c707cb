/** Stores on one simulated disk, whose processes a test starts, kills and cuts off from power. */
import { WHEN_ASKED } from '../../../kit/cluster.js';
import { makeTask } from '../../../../src/domain/task/task.js';
import { printTask } from '../../../../src/text/records/task.js';
import { files } from '../../../../src/adapters/files/index.js';
import type { Disk } from '../../../../src/ports/disk.js';
import type { Store } from '../../../../src/ports/store/index.js';
import { simClock } from '../../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../../kit/sim-processes.js';

export const AT = '2026-01-01T00:00:00.000Z';
/** A record as the program prints it. */
export const record = (id: string, description = 'do it'): string =>
  printTask(makeTask({ id, description, to: 'ana', created_at: AT }));

export interface Started extends Store {
  die(): void;
}

interface StartOptions {
  disk?: Disk;
  boot?: string;
  isReader?: boolean;
  /** Another store in the process of this one. */
  like?: Started;
  /** Peers whose stores the process gave up. */
  abandoned?: ReadonlySet<string>;
}

export interface Ground {
  disk: SimDisk;
  /** A new process. Files that may follow are placed only on request. */
  start(options?: StartOptions): Started;
  /** Ends all processes but this one. */
  killAll(but: Started): void;
  /** Names in the journal folder. */
  journals(): string[];
}

export function ground(disk = simDisk()): Ground {
  const processes = simProcesses();
  const ids = countedIds();
  const started = new Map<Started, ReturnType<typeof processes.start>>();
  return {
    disk,
    start({ disk: seen = disk, boot, isReader = false, like, abandoned = new Set<string>() } = {}) {
      const process = like === undefined ? processes.start(boot) : started.get(like)!;
      let isDead = false;
      const mortal = mortalDisk(seen, () => isDead);
      const clock = simClock({ auto: true });
      const store = files({
        root: '/w',
        disk: mortal,
        clock,
        ids,
        processes: process,
        lag: WHEN_ASKED,
        isReader,
        abandoned,
      });
      const die = (): void => {
        isDead = true;
        process.die();
      };
      const one = { ...store, die };
      started.set(one, process);
      return one;
    },
    killAll(but) {
      for (const store of started.keys()) if (store !== but) store.die();
    },
    journals: () => disk.list('/w/.guild/journal').sort(),
  };
}

/** Takes over from dead processes. */
export async function takeOver(store: Store): Promise<void> {
  await store.presence.sweep();
}

export const session = (task: string) =>
  ({ sessionId: `ana-${task}`, agentId: 'ana', created: AT, status: 'active', task }) as const;

export const says = (content: string) => [{ role: 'assistant', content, timestamp: AT }] as const;

/** A dead process changes nothing more. */
function mortalDisk(disk: Disk, isDead: () => boolean): Disk {
  const guarded = Object.entries(disk).map(([name, call]: [string, (...args: unknown[]) => unknown]) => [
    name,
    (...args: unknown[]) => {
      if (isDead()) throw new Error('the process is gone');
      return call.apply(disk, args);
    },
  ]);
  return Object.fromEntries(guarded) as Disk;
}
