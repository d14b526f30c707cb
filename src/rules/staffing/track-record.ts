/**
 * The outcomes of an agent's past tasks, and the reliability of its bids that follows from them. A
 * record is a fold over the history. Only the latest outcomes count, so that an improved agent
 * regains trust. An agent without a record is trusted.
 */
import type { Event } from '../../domain/event.js';
import type { Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { TrackRecord, TrackRecords } from '../../domain/agent/track-record.js';

export type { TrackRecord, TrackRecords };

export const NO_RECORD: TrackRecord = { recent: '', tasks: [] };

type WorkOutcome = 'accepted' | 'rejected' | 'failed';

const MAX_OUTCOMES = 50;
/** How many task ids are kept. */
const MAX_TASKS = 5;
/**
 * Every agent starts with the credit of this many accepted tasks, so that one failure weighs
 * little.
 */
const INITIAL_CREDIT = 4;

/**
 * The records with one more event; the same object if the event is not the outcome of an agent's
 * work.
 */
export function addToRecords(records: TrackRecords, event: Event): TrackRecords {
  const outcome = outcomeOf(event);
  if (outcome === undefined || event.agent === undefined || event.task === undefined) return records;
  const { recent, tasks } = recordOf(records, event.agent);
  const after: TrackRecord = {
    recent: (recent + outcome[0]!).slice(-MAX_OUTCOMES),
    tasks: [...tasks.filter((id) => id !== event.task), event.task].slice(-MAX_TASKS),
  };
  return { ...records, [event.agent]: after };
}

export function recordOf(records: TrackRecords, agent: string): TrackRecord {
  return Object.hasOwn(records, agent) ? records[agent]! : NO_RECORD;
}

function outcomeOf({ name, role, error }: Event): WorkOutcome | undefined {
  if (typeof role === 'string' && !roleFacts(role).countsForTrackRecord) return undefined;
  if (name === 'task.completed') return 'accepted';
  if (name !== 'task.failed') return undefined;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === 'off_goal') return 'rejected';
  return typeof code === 'string' && BLAMELESS.has(code) ? undefined : 'failed';
}

/** Failures that an agent did not cause. */
const BLAMELESS = new Set<string>([
  'cancelled',
  'by_hand',
  'dependency_failed',
  'taker_lost',
  'unknown_agent',
  'unknown_model',
  'nobody_fit',
  'deadlock',
  'disk_failed',
  'store_away',
  'store_refused',
  'declared_dead',
  'cycle',
]);

export function tally({ recent }: TrackRecord): Record<WorkOutcome, number> {
  const count = (letter: string): number => recent.split(letter).length - 1;
  return { accepted: count('a'), rejected: count('r'), failed: count('f') };
}

/** The share of accepted tasks, from 0 to 1; 1 without a record. */
export function reliability(record: TrackRecord): number {
  const { accepted, rejected, failed } = tally(record);
  return (accepted + INITIAL_CREDIT) / (accepted + rejected + failed + INITIAL_CREDIT);
}

export function recordText(record: TrackRecord): string {
  const { accepted, rejected, failed } = tally(record);
  if (accepted + rejected + failed === 0) return 'no record yet';
  return `${accepted} accepted, ${rejected} rejected, ${failed} failed`;
}

/** A task that a person ended, or that failed before it started, is not a failure of its agent. */
const NOT_ITS_FAILURE = new Set<string>(['cancelled', 'by_hand', 'dependency_failed']);

/**
 * Why an agent's task failed, as shown with the agent's state; undefined if the agent did not fail.
 */
export function failureOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined;
  const { code, message } = error as Partial<Problem>;
  if (code !== undefined && NOT_ITS_FAILURE.has(code)) return undefined;
  return message ?? 'its task failed';
}
