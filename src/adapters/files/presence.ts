/**
 * Who is running. Each peer has one small file in `agents/live/` that names its process; a peer whose file is gone or
 * whose process has ended is dead, and its claims are orphans. The file is written before the first claim, never after.
 */
import path from 'node:path';
import type { Peer } from '../../domain/peer.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Layout } from './layout.js';

export interface Presence {
  peer: Peer;
  /** Makes this peer known; cheap when it is already. */
  join(): void;
  isAlive(peerId: string): boolean;
  /** What was believed of others is asked again. */
  refresh(): void;
  peers(): Peer[];
  /** Differs whenever a peer came or left. */
  stamp(): string;
  /**
   * Looks whether the next few peers by name still live, and takes away the files of those that do not: true if there were any. Each sees to
   * a few, so that together they see to all, however many there are.
   */
  tendNeighbours(): boolean;
  /** How many times longer than one of few a peer may wait before it looks again, because others look after the same ones. */
  patience(): number;
  /** Removes the files of dead peers. */
  sweep(): void;
  leave(): void;
}

/** More than one, because a neighbour may be paused and see to nobody. */
const NEIGHBOURS = 4;
const MOST_USES = 30;

export function presence(disk: Disk, l: Layout, processes: Processes, peer: Peer): Presence {
  const known = new Map<string, boolean>();
  const file = (id: string): string => path.join(l.live, `${id}.json`);
  /** What a peer says of itself never changes. */
  const read = new Map<string, Peer>();
  let near = { stamp: undefined as string | undefined, uses: MOST_USES, others: 0, peers: [] as Peer[] };
  let joined = false;
  return {
    peer,
    join() {
      if (joined) return;
      // Aside and renamed, because a peer whose file is half written would look dead.
      const tmp = path.join(l.live, `.${peer.id}`);
      disk.create(tmp, `${JSON.stringify(peer, null, 2)}\n`);
      disk.rename(tmp, file(peer.id));
      joined = true;
    },
    isAlive,
    refresh: () => known.clear(),
    peers: () => ids().flatMap((id) => (isAlive(id) ? (readPeer(id) ?? []) : [])),
    stamp: () => ids().sort().join(' '),
    tendNeighbours() {
      const dead = neighbours().filter((one) => !processes.isAlive(one));
      for (const { id } of dead) {
        known.set(id, false);
        disk.remove(file(id));
      }
      return dead.length > 0;
    },
    patience: () => Math.min(NEIGHBOURS, Math.max(1, Math.floor(near.others / NEIGHBOURS))),
    sweep() {
      for (const id of ids()) if (!isAlive(id)) disk.remove(file(id));
    },
    leave() {
      if (joined) disk.remove(file(peer.id));
      joined = false;
    },
  };

  function ids(): string[] {
    const names = disk.list(l.live).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    return names.map((name) => name.slice(0, -'.json'.length));
  }

  /** Asked every second by every peer, so the folder is only listed when it has changed, and now and then for what its time does not tell. */
  function neighbours(): Peer[] {
    const stamp = disk.stamp(l.live);
    if (stamp === near.stamp && ++near.uses < MOST_USES) return near.peers;
    const others = ids()
      .filter((id) => id !== peer.id)
      .sort();
    const after = others.filter((id) => id > peer.id);
    const next = [...after, ...others].slice(0, Math.min(NEIGHBOURS, others.length));
    near = { stamp, uses: 0, others: others.length, peers: next.flatMap((id) => readPeer(id) ?? []) };
    return near.peers;
  }

  function livesNow(id: string): boolean {
    const found = readPeer(id);
    return found !== undefined && processes.isAlive(found);
  }

  function isAlive(id: string): boolean {
    if (id === peer.id) return joined;
    let alive = known.get(id);
    if (alive === undefined) {
      alive = livesNow(id);
      known.set(id, alive);
    }
    return alive;
  }

  function readPeer(id: string): Peer | undefined {
    const before = read.get(id);
    if (before !== undefined) return disk.stamp(file(id)) === undefined ? undefined : before;
    const found = disk.read(file(id), 64 * 1024);
    if (found.kind !== 'file') return undefined;
    try {
      const said = JSON.parse(found.bytes.toString('utf8')) as Peer;
      if (typeof said.pid !== 'number') return undefined;
      read.set(id, { ...said, id });
      return read.get(id);
    } catch {
      return undefined;
    }
  }
}
