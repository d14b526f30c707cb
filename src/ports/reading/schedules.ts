/** The schedules of guild.yaml, and the calendar that knows the next due time of a schedule. */
import type { Schedule } from '../../domain/schedule.js';
import type { Task } from '../../domain/task/task.js';

/** A schedule of guild.yaml. */
export interface ScheduleWish {
  /** A hash of the entry in the file. If it changes, the schedule changes with it. */
  said: string;
  task: Pick<Task, 'id' | 'description' | 'schedule'> & Partial<Pick<Task, 'to' | 'priority'>>;
}

/** A schedule whose time zone is known. */
export type Rule = Pick<Schedule, 'cron'> & { timezone: string };

export interface Schedules {
  /** Undefined if the file did not change since the last call, or cannot be read now. */
  configured(): ScheduleWish[] | undefined;
  /** Makes the next call of `configured` return everything. */
  readAgain(): void;
  /** The first due time after this one; undefined: never. */
  next(rule: Rule, after: Date): Promise<Date | undefined>;
  /** The last due time that is not after this one. */
  latest(rule: Rule, until: Date): Promise<Date | undefined>;
}
