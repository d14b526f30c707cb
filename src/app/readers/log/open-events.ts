/**
 * The event log of a workspace, wherever its work is, through the index. Of a shared store there is
 * a copy on this machine, and only new lines are read from the database.
 */
import path from 'node:path';
import { disk as realDisk } from '../../../adapters/disk/index.js';
import { EVENTS } from '../../../adapters/far/records.js';
import type { Event } from '../../../domain/event.js';
import type { EventsSeen } from '../../../ports/aggregates/event-index.js';
import type { Ledger } from '../../../ports/ledger.js';
import type { Store } from '../../../ports/store/index.js';
import { requireWorkspace } from '../no-workspace.js';
import { farPartsOf, openFarReader } from '../open-reader.js';
import { eventTail } from '../../../adapters/task-index/event-tail.js';
import { openEventIndex, openLogCopy, type Progress } from '../aggregates/open-index.js';

interface EventLog {
  /** The log as it was when it was opened. */
  readonly seen: EventsSeen;
  /** The events that were added since the last call, or since the log was opened. */
  more(): Promise<Event[]>;
}

interface EventLogOptions {
  /** A reader of the same workspace that stays open. */
  store: Store;
  onProgress?: Progress | undefined;
}

export async function openEvents(root: string, { store, onProgress }: EventLogOptions): Promise<EventLog> {
  const parts = farPartsOf(store);
  if (parts !== undefined) return sharedLog(parts.ledger, root, onProgress);
  const seen = openEventIndex(root, onProgress).look();
  const tail = eventTail(realDisk(), root, seen.ends());
  return { seen, more: async () => tail() };
}

/** The log once, for a command that does not follow it. Throws a Problem without a workspace. */
export async function readEvents(folder: string, onProgress?: Progress): Promise<EventsSeen> {
  const root = path.resolve(folder);
  const disk = realDisk();
  requireWorkspace(disk, root);
  const shared = openFarReader(disk, root);
  if (shared === undefined) return openEventIndex(root, onProgress).look();
  try {
    return (await sharedLog(shared.far.ledger, root, onProgress)).seen;
  } finally {
    await shared.close();
  }
}

/** `root`: where the copy of the log is kept. */
async function sharedLog(ledger: Ledger, root: string, onProgress?: Progress): Promise<EventLog> {
  const copy = await openLogCopy(root, ledger, onProgress);
  let place = copy.end;
  return {
    seen: copy.seen,
    async more() {
      const { texts, end } = await ledger.lines(EVENTS, { after: place });
      place = end;
      return texts.map((text) => JSON.parse(text) as Event);
    },
  };
}
