/**
 * Who is running. Each peer has one small file in `agents/live/` that names its process; a peer whose file is gone or
 * whose process has ended is dead, and its claims are orphans. The file is written before the first claim, never after.
 */
import path from 'node:path';
import { writtenAt } from '../../domain/stamp.js';
import { isFew, isWarden, WARDENS, type Peer, type Rank } from '../../domain/peer.js';
import type { Disk } from '../../ports/disk.js';
import type { Processes } from '../../ports/processes.js';
import type { Layout } from './base/layout.js';
import { remade, showAt } from './base/atomic-write.js';

export interface Presence {
  peer: Peer;
  /** Makes this peer known; cheap when it is already. */
  join(): void;
  /** Makes it known again if somebody took its file away: true if so. Others held it for dead meanwhile. */
  rejoin(): boolean;
  isAlive(peerId: string): boolean;
  /** What was believed of others is asked again. */
  refresh(): void;
  peers(): Peer[];
  /** Differs whenever a peer came or left. */
  stamp(): string;
  /**
   * Looks whether some of the others still live, and takes away the files of those that do not: true if there were any. Of few peers each sees
   * to its next ones by name. Of many the first by name, the wardens, see to all, in turns; the rest sees to the wardens.
   */
  tendOthers(): boolean;
  rank(): Rank;
  /** Removes the files of dead peers, and what they had aside. */
  sweep(): void;
  leave(): void;
}

/** More than one, because a neighbour may be paused and see to nobody. */
const NEIGHBOURS = 4;
const MOST_USES = 30;
/** Nothing lies aside for so long, unless whoever wrote it is dead. */
const ASIDE_MS = 10 * 60_000;

/** Names of what lies aside begin with the peer. */
const ownerOf = (name: string): string => name.slice(0, name.lastIndexOf('-'));

export function presence(disk: Disk, l: Layout, processes: Processes, peer: Peer): Presence {
  const known = new Map<string, boolean>();
  const file = (id: string): string => path.join(l.live, `${id}.json`);
  /** What a peer says of itself never changes. */
  const read = new Map<string, Peer>();
  let near = { stamp: undefined as string | undefined, uses: MOST_USES, me: { rank: 0, of: 1 }, peers: [] as Peer[] };
  let turn = 0;
  let joined = false;
  return {
    peer,
    join,
    rejoin() {
      if (!joined || disk.stamp(file(peer.id)) !== undefined) return false;
      joined = false;
      join();
      return true;
    },
    isAlive,
    refresh: () => known.clear(),
    peers: () => ids().flatMap((id) => (isAlive(id) ? (readPeer(id) ?? []) : [])),
    stamp: () => ids().sort().join(' '),
    tendOthers() {
      const dead = ours().filter((one) => !processes.isAlive(one));
      for (const { id } of dead) known.set(id, false);
      bury(dead.map(({ id }) => id));
      return dead.length > 0;
    },
    rank() {
      lookNear();
      return near.me;
    },
    sweep() {
      bury(ids().filter((id) => !isAlive(id)));
      for (const name of disk.list(l.tmp)) {
        const owner = ownerOf(name);
        if (owner !== peer.id && !isAlive(owner) && isLeft(name)) disk.remove(path.join(l.tmp, name));
      }
    },
    leave() {
      if (joined) disk.remove(file(peer.id));
      joined = false;
    },
  };

  function join(): void {
    if (joined) return;
    showAt(disk, l, peer.id, file(peer.id), `${JSON.stringify(peer, null, 2)}\n`); // half written it would look dead
    joined = true;
  }

  /** What they had aside goes first: without its file in `agents/live/` nobody knows that a peer is dead. */
  function bury(dead: string[]): void {
    if (dead.length === 0) return;
    for (const name of disk.list(l.tmp)) if (dead.includes(ownerOf(name))) disk.remove(path.join(l.tmp, name));
    for (const id of dead) disk.remove(file(id));
  }

  /**
   * Of a peer that nobody knows. It may live and have lost its file a moment ago, and what it has aside is about to get its name: only what
   * is old was left.
   */
  function isLeft(name: string): boolean {
    const stamp = disk.stamp(path.join(l.tmp, name));
    if (stamp === undefined || name === remade(ownerOf(name))) return true;
    return Date.now() - Number(writtenAt(stamp) / 1_000_000n) > ASIDE_MS;
  }

  function ids(): string[] {
    const names = disk.list(l.live).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    const found = names.map((name) => name.slice(0, -'.json'.length));
    if (read.size > found.length) forgetGone(new Set(found));
    return found;
  }

  function forgetGone(there: ReadonlySet<string>): void {
    for (const id of read.keys()) if (!there.has(id)) read.delete(id);
  }

  /** Whom to look at now. A warden looks at a part of all at a time, and the wardens at different ones. */
  function ours(): Peer[] {
    lookNear();
    if (isFew(near.me) || !isWarden(near.me)) return near.peers;
    turn = (turn + 1) % WARDENS;
    return near.peers.filter((_, i) => i % WARDENS === (turn + near.me.rank) % WARDENS);
  }

  /** Asked every second, so the folder is only listed when it has changed, and now and then for what its time does not tell. */
  function lookNear(): void {
    const stamp = disk.stamp(l.live);
    if (stamp === near.stamp && ++near.uses < (isWarden(near.me) ? MOST_USES : 2)) return;
    const others = ids()
      .filter((id) => id !== peer.id)
      .sort();
    const after = others.filter((id) => id > peer.id);
    const me = { rank: others.length - after.length, of: others.length + 1 };
    const seesToAll = isWarden(me) && !isFew(me);
    const wardens = isFew(me) ? [] : others.slice(0, WARDENS);
    const next = seesToAll ? others : [...new Set([...wardens, ...after, ...others])].slice(0, NEIGHBOURS);
    near = { stamp, uses: 0, me, peers: next.flatMap((id) => readPeer(id) ?? []) };
  }

  function isAlive(id: string): boolean {
    if (id === peer.id) return joined;
    const believed = known.get(id);
    if (believed !== undefined) return believed;
    const found = disk.stamp(file(id)) === undefined ? undefined : readPeer(id); // a stamp costs a tenth of a read that fails
    if (found === undefined) return false; // not remembered: it may be about to make itself known
    const alive = processes.isAlive(found);
    known.set(id, alive);
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
