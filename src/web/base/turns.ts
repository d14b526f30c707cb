/** Lets the server answer other requests during a long read. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 10;

/** Returns a function to call after each part of the work: now and then it lets others go first. */
export function turnsForOthers(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < TURN_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
