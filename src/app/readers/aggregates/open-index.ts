/**
 * Opens the index of ended tasks and events for commands that sum up. Only these commands build and
 * update it; a process that works never looks at it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../../adapters/disk/index.js';
import { packageFolder } from '../../../adapters/starter/package-folder.js';
import { EVENTS } from '../../../adapters/far/records.js';
import { eventIndex, taskIndex, updateLogCopy, type ReadLines } from '../../../adapters/task-index/index.js';
import type { Event } from '../../../domain/event.js';
import type { EventIndex, EventsSeen } from '../../../ports/aggregates/event-index.js';
import type { Ledger } from '../../../ports/ledger.js';
import type { TaskIndex } from '../../../ports/aggregates/task-index.js';
import { eventsInMemory, joinedEvents } from '../../../adapters/task-index/events-in-memory.js';

export { eventsInMemory, joinedEvents };
export type { EventHistory, EventsSeen } from '../../../ports/aggregates/event-index.js';

/** Called now and then while many files are read; at the end with `done` equal to `total`. */
export type Progress = (done: number, total: number) => void;

export function openTaskIndex(folder: string, onProgress?: Progress): TaskIndex {
  return taskIndex({ root: path.resolve(folder), disk: disk(), version: programVersion(), onProgress });
}

export function openEventIndex(folder: string, onProgress?: Progress): EventIndex {
  return eventIndex({ root: path.resolve(folder), version: programVersion(), onProgress });
}

interface SharedLog {
  /** The end of the log when the copy was brought up to date. */
  end: number;
  seen: EventsSeen;
}

/** Brings the copy of a shared store's log up to date. */
export async function openLogCopy(root: string, ledger: Ledger, onProgress?: Progress): Promise<SharedLog> {
  const folder = path.join(path.resolve(root), '.guild', 'index', 'shared');
  const read: ReadLines = (after, first) => ledger.lines(EVENTS, { after, first });
  const { pages, rest, end } = await updateLogCopy(path.join(folder, 'events'), read);
  const index = eventIndex({ root: folder, files: pages, version: programVersion(), onProgress });
  const uncopied = rest.map((text) => JSON.parse(text) as Event);
  return { end, seen: joinedEvents(index.look(), eventsInMemory(uncopied)) };
}

/** Another version may read the same record differently. */
function programVersion(): string {
  const { version } = JSON.parse(fs.readFileSync(packageFolder('package.json'), 'utf8')) as { version: string };
  return version;
}
