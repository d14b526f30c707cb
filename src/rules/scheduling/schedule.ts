/**
 * Decides which due times of a schedule get a run. Only the latest one can: a process that was away
 * never starts a series of runs. Every other due time is reported.
 */
import type { Schedule } from '../../domain/schedule.js';

/** Due times since the last decision; ISO times. */
export interface DueTimes {
  first: string;
  latest: string;
  /** At most `MAX_COUNTED`. */
  count: number;
}

interface ScheduleFacts {
  now: string;
  due: DueTimes;
  /** The run of the latest due time exists: a process died before it could record that. */
  exists: boolean;
  /** The run before it has not ended. */
  isRunning: boolean;
}

interface ScheduleStep {
  /** The latest due time gets a run. */
  fires: boolean;
  /** Due times without a run. */
  missed?: Missed;
}

export interface Missed {
  count: number;
  why: string;
  /** The previous run takes longer than the interval. */
  isSkipped: boolean;
}

/** A run that starts this late or earlier is on time: `pump` may be called every few minutes. */
const ON_TIME_MS = 5 * 60_000;
export const MAX_COUNTED = 1000;

export function scheduleStep({ missed }: Schedule, { now, due, exists, isRunning }: ScheduleFacts): ScheduleStep {
  const isOnTime = Date.parse(now) - Date.parse(due.latest) <= ON_TIME_MS;
  const fires = exists || (!isRunning && (isOnTime || missed === 'once'));
  const count = due.count - (fires ? 1 : 0);
  if (count === 0) return { fires };
  const isSkipped = !fires && isRunning && isOnTime && count === 1;
  const why = isSkipped ? 'the run before it had not ended' : 'no process was running';
  return { fires, missed: { count, why, isSkipped } };
}
