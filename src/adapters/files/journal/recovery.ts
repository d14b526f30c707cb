/**
 * Takes over from dead processes: replays their journals before this process looks at any folder.
 * This is the only place from which a replay is started.
 */
import path from 'node:path';
import { INTERVALS } from '../../../domain/intervals.js';
import type { Problem } from '../../../domain/problem.js';
import type { Clock } from '../../../ports/clock.js';
import type { Disk } from '../../../ports/disk.js';
import type { Processes } from '../../../ports/processes.js';
import { syncIfThere } from '../base/atomic-write.js';
import type { Layout } from '../base/layout.js';
import type { Presence } from '../base/presence.js';
import { settledNames } from '../base/settled-names.js';
import { deadJournals } from './dead-journals.js';
import { replay } from './replay.js';

interface Recovery {
  /** This process starts to work here. Processes that only read never replay. */
  work(): void;
  /** A process may have died. */
  notice(): void;
  /** Replays the journals of dead processes. `full`: looks for them even if none is known. */
  replay(full: boolean): Promise<Problem[]>;
  /** Whether the journal of this peer still has to be replayed: its tasks are held. */
  hasJournal(peer: string): boolean;
  /** How many conversations only the journal of this peer had. */
  unseen(peer: string): number;
}

interface Dependencies {
  disk: Disk;
  layout: Layout;
  processes: Processes;
  presence: Presence;
  clock: Clock;
  abandoned: ReadonlySet<string>;
}

export function recovery({ disk, layout, processes, presence, clock, abandoned }: Dependencies): Recovery {
  const me = presence.peer.id;
  const dead = deadJournals({
    disk,
    folder: layout.journal,
    shown: path.relative(layout.root, layout.journal),
    me,
    processes,
    isPeerAlive: presence.isAlive,
    abandoned,
    names: settledNames(disk, layout.journal, () => clock.now()),
  });
  const unseen = new Map<string, number>();
  let isWorking = false;
  let isDue = true;
  let running: Promise<Problem[]> | undefined;

  return {
    work: () => void (isWorking = true),
    notice: () => void (isDue = true),
    async replay(full) {
      if (!isWorking || !(full || isDue)) return [];
      // A replay under way may have looked before the last process died.
      running = Promise.resolve(running).then(replayAll, replayAll);
      return running;
    },
    hasJournal: dead.hasJournal,
    unseen: (peer) => unseen.get(peer) ?? 0,
  };

  async function replayAll(): Promise<Problem[]> {
    isDue = false;
    // Another process is replaying. Its restored files must be there before this process looks.
    while (dead.isBusy()) {
      await clock.sleep(INTERVALS.replayCheckMs);
      presence.refresh(); // it may die
      // A simulated sleep may return at once, so let other work run.
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A process that replays is visible first, so that others know whether it is still alive.
    const { adopted, problems } = dead.adopt(clock.now(), presence.join);
    if (adopted.length === 0) return problems;
    // The journals must survive a power cut until their replay has been completed.
    for (const { files } of adopted) for (const file of files) await syncIfThere(disk, file);
    const { problems: found, files, unseen: restored } = replay(disk, layout, adopted, me);
    for (const [peer, count] of restored) unseen.set(peer, count);
    for (const file of files) await syncIfThere(disk, file);
    for (const folder of new Set([...files].map((file) => path.dirname(file)))) await disk.syncFolder(folder);
    for (const journal of adopted) for (const file of journal.files) disk.remove(file);
    await disk.syncFolder(layout.journal);
    return [...problems, ...found];
  }
}
