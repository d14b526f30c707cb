/** An index of ended tasks and of the event log, under `.guild/index`. It can always be deleted. */
export { eventIndex } from './events.js';
export { updateLogCopy, type ReadLines } from './log-copy.js';
export { taskIndex } from './tasks.js';
