/** The files of a mirrored folder that an undo takes back with the store. */
import { TASK_STATES } from '../../domain/task/task.js';
import type { FileChange } from '../../ports/history.js';

export const TASK_FILE = new RegExp(`^tasks/(${TASK_STATES.join('|')})/([^/]+)\\.json$`);
export const SESSION_FILE = /^sessions\/([^/]+)\.session\.yaml$/;
export const NOTE = /^(?:memory|context)\//;

/**
 * Whether an undo at a desk makes this change. The ballot follows from the open approvals, so that
 * an old mark does not answer again; definitions travel by Git.
 */
export function isUndoneInStore({ path: file }: Pick<FileChange, 'path'>): boolean {
  const isBoard = /^tasks\/[^/]+\.task\.md$/.test(file) && file !== 'tasks/approvals.task.md';
  return NOTE.test(file) || SESSION_FILE.test(file) || TASK_FILE.test(file) || file.startsWith('results/') || isBoard;
}
