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
  /** Removes the files of dead peers. */
  sweep(): void;
  leave(): void;
}

export function presence(disk: Disk, l: Layout, processes: Processes, peer: Peer): Presence {
  const known = new Map<string, boolean>();
  const file = (id: string): string => path.join(l.live, `${id}.json`);
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

  function isAlive(id: string): boolean {
    if (id === peer.id) return joined;
    let alive = known.get(id);
    if (alive === undefined) {
      const found = readPeer(id);
      alive = found !== undefined && processes.isAlive(found);
      known.set(id, alive);
    }
    return alive;
  }

  function readPeer(id: string): Peer | undefined {
    const read = disk.read(file(id), 64 * 1024);
    if (read.kind !== 'file') return undefined;
    try {
      const found = JSON.parse(read.bytes.toString('utf8')) as Peer;
      return typeof found.pid === 'number' ? { ...found, id } : undefined;
    } catch {
      return undefined;
    }
  }
}
