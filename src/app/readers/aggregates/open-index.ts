/**
 * Opens the index of ended tasks and events for commands that sum up. Only these commands build and
 * update it; a process that works never looks at it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../../adapters/disk/index.js';
import { packageFolder } from '../../../adapters/starter/package-folder.js';
import { eventIndex, taskIndex } from '../../../adapters/task-index/index.js';
import type { EventIndex } from '../../../ports/aggregates/event-index.js';
import type { TaskIndex } from '../../../ports/aggregates/task-index.js';

export type { CallSeen, EventsSeen } from '../../../ports/aggregates/event-index.js';

/** Called now and then while much is read; at the end with `done` equal to `total`. */
export type Progress = (done: number, total: number) => void;

export function openTaskIndex(folder: string, onProgress?: Progress): TaskIndex {
  return taskIndex({ root: path.resolve(folder), disk: disk(), version: programVersion(), onProgress });
}

export function openEventIndex(folder: string, onProgress?: Progress): EventIndex {
  return eventIndex({ root: path.resolve(folder), version: programVersion(), onProgress });
}

/** Another version may read the same record differently. */
function programVersion(): string {
  const { version } = JSON.parse(fs.readFileSync(packageFolder('package.json'), 'utf8')) as { version: string };
  return version;
}
