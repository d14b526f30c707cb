/** The workspace as it will be once the journals of dead processes are replayed, for readers. */
import path from 'node:path';
import type { Disk } from '../../../ports/disk.js';
import type { Processes } from '../../../ports/processes.js';
import type { Layout } from '../base/layout.js';
import { deadJournals } from './dead-journals.js';
import { replay } from './replay.js';
import { presence } from '../base/presence.js';
import { overlay } from './overlay.js';

/** The disk itself if there is nothing to replay. */
export function withDeadJournals(disk: Disk, layout: Layout, processes: Processes): Disk {
  let stamp = disk.stamp(layout.journal);
  let replayed = replayedInMemory(disk, layout, processes);
  if (replayed === undefined) return disk;
  // Another process may replay the journals while this one still reads.
  const current = (): Readable => {
    const now = disk.glance(layout.journal);
    if (now !== stamp) replayed = replayedInMemory(disk, layout, processes);
    stamp = now;
    return replayed ?? disk;
  };
  // A command that adds a task or an intent writes to the workspace itself.
  return {
    ...disk,
    read: (file, maxBytes) => current().read(file, maxBytes),
    readFrom: (file, offset, maxBytes) => current().readFrom(file, offset, maxBytes),
    stamp: (file) => current().stamp(file),
    list: (folder, most) => current().list(folder, most),
  };
}

type Readable = Pick<Disk, 'read' | 'readFrom' | 'stamp' | 'list'>;

function replayedInMemory(disk: Disk, layout: Layout, processes: Processes): Readable | undefined {
  const me = 'reader';
  const peer = { id: me, ...processes.me(), agents: [], since: '' };
  const { isAlive } = presence(disk, layout, processes, peer);
  const shown = path.relative(layout.root, layout.journal);
  const dead = deadJournals({ disk, folder: layout.journal, shown, me, processes, isPeerAlive: isAlive }).look();
  if (dead.length === 0) return undefined;
  const inMemory = overlay(disk);
  replay({ ...disk, ...inMemory }, layout, dead, me);
  return inMemory;
}
