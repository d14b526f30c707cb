/**
 * The running peers. Each has a small file in `agents/live/` that names its process. A peer whose
 * file is gone or whose process has ended is dead, and its claims are orphans. The file is written
 * before the first claim.
 */
import path from 'node:path';
import { inodeOf, isAbandoned } from '../../../domain/stamp.js';
import { isFew, isWarden, WARDENS, type Peer, type Rank } from '../../../domain/peer.js';
import type { Disk } from '../../../ports/disk.js';
import type { Processes } from '../../../ports/processes.js';
import type { Layout } from './layout.js';
import { disposableName, showAt } from './atomic-write.js';

export interface Presence {
  peer: Peer;
  /** Writes this peer's file; cheap if that was done before. */
  join(): void;
  isJoined(): boolean;
  /** Writes the file again if it was deleted. True if so: others considered this peer dead. */
  rejoin(): boolean;
  isAlive(peerId: string): boolean;
  /** Forgets which peers are alive, so that their processes are asked again. */
  refresh(): void;
  peers(): Peer[];
  /** Changes whenever a peer joins or leaves. */
  stamp(): string;
  /**
   * Checks some of the other peers and removes the files of dead ones; true if there were any. With
   * few peers, each checks its next neighbours by name. With many, the first few by name (the
   * wardens) check all of them in turn, and the others check the wardens.
   */
  checkOthers(): boolean;
  rank(): Rank;
  /** No other process has a file here, dead ones included. */
  isAlone(): boolean;
  /** Removes the files and temporary files of dead peers. */
  sweep(): void;
  leave(): void;
}

interface PeerFile extends Peer {
  /**
   * The inode of the folder. In another folder the file is a copy, and its process does not work
   * there. Absent in files of older versions.
   */
  place?: string;
}

/** More than one, because a neighbour may be paused and check nothing. */
const NEIGHBOURS = 4;
const MAX_USES = 30;

/** Names of temporary files start with the peer's id. */
const ownerOf = (name: string): string => name.slice(0, name.lastIndexOf('-'));

export function presence(disk: Disk, layout: Layout, processes: Processes, peer: Peer): Presence {
  const liveness = new Map<string, boolean>();
  const file = (id: string): string => path.join(layout.live, `${id}.json`);
  /** Contents of peer files; they never change. */
  const peersById = new Map<string, Peer>();
  let cached = { stamp: undefined as string | undefined, uses: MAX_USES, me: { rank: 0, of: 1 }, peers: [] as Peer[] };
  let turn = 0;
  let joined = false;
  return {
    peer,
    join,
    isJoined: () => joined,
    rejoin() {
      if (!joined || disk.stamp(file(peer.id)) !== undefined) return false;
      joined = false;
      join();
      return true;
    },
    isAlive,
    refresh: () => liveness.clear(),
    peers: () => ids().flatMap((id) => (isAlive(id) ? (readPeer(id) ?? []) : [])),
    stamp: () => ids().sort().join(' '),
    checkOthers() {
      const dead = peersToCheck().filter((other) => !processes.isAlive(other));
      for (const { id } of dead) liveness.set(id, false);
      removeDead(dead.map(({ id }) => id));
      return dead.length > 0;
    },
    rank() {
      refreshCached();
      return cached.me;
    },
    isAlone: () => ids().every((id) => id === peer.id),
    sweep() {
      removeDead(ids().filter((id) => !isAlive(id)));
      for (const name of disk.list(layout.tmp)) {
        const owner = ownerOf(name);
        if (owner !== peer.id && !isAlive(owner) && isLeftBehind(name)) disk.remove(path.join(layout.tmp, name));
      }
    },
    leave() {
      if (joined) disk.remove(file(peer.id));
      joined = false;
    },
  };

  function join(): void {
    if (joined) return;
    disk.makeFolder(layout.live);
    // On a layered file system the first file in a folder may change the folder's inode.
    for (let at: string | undefined; at !== place();) {
      at = place();
      // Written as a whole: a partial file would look like a dead process.
      const own: PeerFile = { ...peer, place: at };
      showAt(disk, layout, peer.id, file(peer.id), `${JSON.stringify(own, null, 2)}\n`);
    }
    joined = true;
  }

  function place(): string {
    return inodeOf(disk.stamp(layout.live) ?? '');
  }

  /**
   * Temporary files go first: once its file in `agents/live/` is gone, a peer is unknown and not
   * dead.
   */
  function removeDead(dead: string[]): void {
    if (dead.length === 0) return;
    for (const name of disk.list(layout.tmp))
      if (dead.includes(ownerOf(name))) disk.remove(path.join(layout.tmp, name));
    for (const id of dead) disk.remove(file(id));
  }

  /**
   * An unknown peer may be alive with its file just deleted, and about to rename this temporary
   * file. So only old files count as abandoned.
   */
  function isLeftBehind(name: string): boolean {
    const stamp = disk.stamp(path.join(layout.tmp, name));
    if (stamp === undefined || name === disposableName(ownerOf(name))) return true;
    return isAbandoned(stamp, Date.now());
  }

  function ids(): string[] {
    const names = disk.list(layout.live).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    const all = names.map((name) => name.slice(0, -'.json'.length));
    if (peersById.size > all.length) forgetGone(new Set(all));
    return all;
  }

  function forgetGone(present: ReadonlySet<string>): void {
    for (const id of peersById.keys()) if (!present.has(id)) peersById.delete(id);
  }

  /** A warden checks a share of all peers at a time, and each warden another share. */
  function peersToCheck(): Peer[] {
    refreshCached();
    if (isFew(cached.me) || !isWarden(cached.me)) return cached.peers;
    turn = (turn + 1) % WARDENS;
    return cached.peers.filter((_, i) => i % WARDENS === (turn + cached.me.rank) % WARDENS);
  }

  /**
   * Called every second, so the folder is listed only when its stamp changes, and now and then in
   * case the stamp missed a change.
   */
  function refreshCached(): void {
    const stamp = disk.stamp(layout.live);
    if (stamp === cached.stamp && ++cached.uses < (isWarden(cached.me) ? MAX_USES : 2)) return;
    const others = ids()
      .filter((id) => id !== peer.id)
      .sort();
    const after = others.filter((id) => id > peer.id);
    const me = { rank: others.length - after.length, of: others.length + 1 };
    const checksAll = isWarden(me) && !isFew(me);
    const wardens = isFew(me) ? [] : others.slice(0, WARDENS);
    const next = checksAll ? others : [...new Set([...wardens, ...after, ...others])].slice(0, NEIGHBOURS);
    cached = { stamp, uses: 0, me, peers: next.flatMap((id) => readPeer(id) ?? []) };
  }

  function isAlive(id: string): boolean {
    if (id === peer.id) return joined;
    const cachedLiveness = liveness.get(id);
    if (cachedLiveness !== undefined) return cachedLiveness;
    // a stamp costs a tenth of a failing read
    const other = disk.stamp(file(id)) === undefined ? undefined : readPeer(id);
    if (other === undefined) return false; // not cached: the peer may be about to write its file
    const alive = processes.isAlive(other);
    liveness.set(id, alive);
    return alive;
  }

  function readPeer(id: string): Peer | undefined {
    const before = peersById.get(id);
    if (before !== undefined) return disk.stamp(file(id)) === undefined ? undefined : before;
    const read = disk.read(file(id), 64 * 1024);
    if (read.kind !== 'file') return undefined;
    try {
      const { place: writtenAt, ...parsed } = JSON.parse(read.bytes.toString('utf8')) as PeerFile;
      if (typeof parsed.pid !== 'number' || (writtenAt ?? place()) !== place()) return undefined;
      peersById.set(id, { ...parsed, id });
      return peersById.get(id);
    } catch {
      return undefined;
    }
  }
}
