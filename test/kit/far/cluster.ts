/**
 * A story on the far store, over a simulated ledger. Boards, ballot and mailboxes stay on a
 * simulated disk that all processes share, as a desk would show them.
 */
import path from 'node:path';
import { far, type FarStore } from '../../../src/adapters/far/index.js';
import { replay } from '../../../src/adapters/far/sessions.js';
import { folders, layout } from '../../../src/adapters/files/base/layout.js';
import { ledgerState, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import type { Event } from '../../../src/domain/event.js';
import type { Placed } from '../../../src/domain/task/task.js';
import { farPorts } from '../../../src/app/far/shared-ports.js';
import type { Clock } from '../../../src/ports/clock.js';
import { cluster, ROOT, type Cluster, type Proc, type StartOptions } from '../cluster.js';
import { reflect, takingIn } from '../late/cluster.js';
import { simDisk, type SimDisk } from '../sim-disk.js';
import { writeStory, type Story } from '../stories.js';
import { SIM_LEASE_MS, simNet, type SimNet, type PeerOptions, type SimPeer } from './sim-ledger.js';

export interface FarCluster {
  disk: SimDisk;
  state: LedgerState;
  net: SimNet;
  procs: Cluster;
  /** `abandoned`: the earlier peer ids of this process. */
  start(options?: StartOptions & PeerOptions & { abandoned?: ReadonlySet<string> }): FarProc;
  /** The story with people who see the tasks and conversations as files. */
  story: Story;
  /** Writes tasks and conversations to the disk, where the outcome is judged. */
  reflect(): void;
}

export interface FarProc extends Proc {
  far: FarStore;
  peer: SimPeer;
}

export function farCluster(given: Story, random: () => number): FarCluster {
  const disk = simDisk();
  writeStory(disk, given);
  for (const folder of folders(layout(ROOT))) disk.makeFolder(folder);
  const state = ledgerState();
  const net = simNet(state, random);
  const procs = cluster(given.script, given.asks);
  const show = (): void => {
    reflect(heldIn(state), disk);
    for (const [log, lines] of state.logs)
      if (log.startsWith('bus/'))
        disk.save(path.join(ROOT, `${log}.jsonl`), lines.map(({ text }) => `${text}\n`).join(''));
  };
  const human = given.human;
  let started = 0;
  return {
    disk,
    state,
    net,
    procs,
    reflect: show,
    story: { ...given, ...(human ? { human: (on: SimDisk) => (show(), human(on)) } : {}) },
    start({ weather, cutAt, skewMs, rate, abandoned = new Set<string>(), ...options } = {}) {
      const peer = net.connect({ weather, cutAt, skewMs, rate });
      const me = { host: 'sim', bootId: 'sim', pid: ++started, startTime: '0' };
      let own: FarStore | undefined;
      let ownClock: Clock | undefined;
      const proc = procs.start(disk, {
        ...options,
        store({ clock, ids, agents }) {
          own = far({
            ledger: peer.ledger,
            clock: (ownClock = peer.clock(clock)),
            ids,
            me,
            agents,
            abandoned,
            leaseMs: SIM_LEASE_MS,
            lag: (wake) => setImmediate(wake),
            every: peer.every,
          });
          return takingIn(own, disk);
        },
        ports: () => ({
          ...farPorts(own!, { root: ROOT, disk, clock: ownClock! }, own!.presence.peer.id),
          abandoned,
        }),
      });
      return { ...proc, far: own!, peer, die: () => (peer.die(), own!.stop()) };
    },
  };
}

function heldIn({ entries, logs }: LedgerState): Parameters<typeof reflect>[0] {
  const under = <T>(all: ReadonlyMap<string, T>, prefix: string): [string, T][] =>
    [...all].flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : []));
  return {
    rows: under(entries, 'task/').map(([id, { value }]) => [id, JSON.parse(value) as Placed]),
    sessions: under(logs, 'session/').map(([id, lines]) => [id, replay(lines.map(({ text }) => text))!]),
    events: (logs.get('events') ?? []).map(({ text }) => JSON.parse(text) as Event),
  };
}
