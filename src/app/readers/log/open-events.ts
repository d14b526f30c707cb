/**
 * The event log of a workspace, wherever its work is: in files it is read through the index, in a
 * shared store it is read as a whole once, and then only the new lines.
 */
import path from 'node:path';
import { disk as realDisk } from '../../../adapters/disk/index.js';
import { EVENTS } from '../../../adapters/far/records.js';
import { isWorkspace } from '../../../adapters/files/base/layout.js';
import { ProblemError, type Problem } from '../../../domain/problem.js';
import type { Event } from '../../../domain/event.js';
import type { EventsSeen } from '../../../ports/aggregates/event-index.js';
import type { Ledger } from '../../../ports/ledger.js';
import type { Store } from '../../../ports/store/index.js';
import { noWorkspace } from '../no-workspace.js';
import { farPartsOf, openFarReader } from '../open-reader.js';
import { eventTail } from './event-tail.js';
import { eventsInMemory } from './events-in-memory.js';
import { openEventIndex, type Progress } from '../aggregates/open-index.js';

interface EventLog {
  /** The log as it was when it was opened. */
  readonly seen: EventsSeen;
  /** The events that were added since the last call, or since the log was opened. */
  more(): Promise<Event[]>;
  /** The whole log as of the last `more`, or later. */
  now(): EventsSeen;
}

interface EventLogOptions {
  /** A reader of the same workspace that stays open. */
  store: Store;
  onProgress?: Progress | undefined;
}

export async function openEvents(root: string, { store, onProgress }: EventLogOptions): Promise<EventLog> {
  const parts = farPartsOf(store);
  if (parts !== undefined) return sharedLog(parts.ledger);
  const index = openEventIndex(root, onProgress);
  const seen = index.look();
  const tail = eventTail(root, seen.ends());
  return { seen, more: async () => tail(), now: () => index.look() };
}

/** The log once, for a command that does not follow it. Throws a Problem without a workspace. */
export async function readEvents(folder: string, onProgress?: Progress): Promise<EventsSeen> {
  const root = path.resolve(folder);
  const disk = realDisk();
  if (!isWorkspace(disk, root)) throw new ProblemError(missing(root));
  const shared = openFarReader(disk, root);
  if (shared === undefined) return openEventIndex(root, onProgress).look();
  try {
    return (await sharedLog(shared.far.ledger)).seen;
  } finally {
    await shared.close();
  }
}

async function sharedLog(ledger: Ledger): Promise<EventLog> {
  const read = async (after?: number): Promise<{ events: Event[]; end: number }> => {
    const { texts, end } = await ledger.lines(EVENTS, after === undefined ? {} : { after });
    return { events: texts.map((text) => JSON.parse(text) as Event), end };
  };
  const first = await read();
  const added: Event[] = [];
  let place = first.end;
  return {
    seen: eventsInMemory(first.events),
    async more() {
      const { events, end } = await read(place);
      place = end;
      added.push(...events);
      return events;
    },
    now: () => eventsInMemory([...first.events, ...added]),
  };
}

function missing(root: string): Problem {
  return noWorkspace(root, realDisk().stamp(root) !== undefined);
}
