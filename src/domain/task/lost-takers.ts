/**
 * Which task killed a process? A process works on many tasks at once, and its death interrupts all
 * of them. A death counts against a task only if the process worked on no other. A task that was
 * interrupted together with others twice in a row is a suspect and is worked on alone: the next
 * death then shows whether it is to blame, and innocent tasks can end.
 */
import type { LostTaker, Task } from './task.js';

/** A task that was interrupted this often together with others is worked on alone. */
const MAX_BESIDE = 2;

const MAX_KEPT = 10;

/** New messages since the last death are progress: the count starts over. */
export function lostInARow({ lost = [] }: Pick<Task, 'lost'>, now: LostTaker): LostTaker[] {
  const last = lost.at(-1);
  return last !== undefined && last.messages < now.messages ? [now] : [...lost, now].slice(-MAX_KEPT);
}

/** How many processes died while they worked on this task alone. */
export function ownLosses(lost: readonly LostTaker[]): number {
  return lost.filter(({ beside = 0 }) => beside === 0).length;
}

/** Whether a process must work on this task and on no other. */
export function isSuspect({ lost = [] }: Pick<Task, 'lost'>): boolean {
  return lost.length >= MAX_BESIDE && lost.some(({ beside = 0 }) => beside > 0);
}
