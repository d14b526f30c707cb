/**
 * What came of an agent's work so far, and how far its own word about itself is to be believed. A record is a fold over the history: only
 * the latest outcomes count, so that an agent that was mended is trusted again. An agent without a record is believed.
 */
import type { Event } from '../../domain/event.js';
import { roleFacts } from '../../domain/task/role.js';
import type { TrackRecord, TrackRecords } from '../../domain/agent/track-record.js';

export type { TrackRecord, TrackRecords };

export const NO_RECORD: TrackRecord = { recent: '', tasks: [] };

type WorkOutcome = 'accepted' | 'rejected' | 'failed';

/** How many outcomes count, and how many tasks are remembered by name. */
const MOST = 50;
const MOST_TASKS = 5;
/** An agent begins as if it had done this many tasks well: one failure is no verdict. */
const GIVEN = 4;

/** The records with one more line of history in them; the same object if the line says nothing about anybody's work. */
export function addToRecords(records: TrackRecords, event: Event): TrackRecords {
  const outcome = outcomeOf(event);
  if (outcome === undefined || event.agent === undefined || event.task === undefined) return records;
  const { recent, tasks } = recordOf(records, event.agent);
  const after: TrackRecord = {
    recent: (recent + outcome[0]!).slice(-MOST),
    tasks: [...tasks.filter((id) => id !== event.task), event.task].slice(-MOST_TASKS),
  };
  return { ...records, [event.agent]: after };
}

export function recordOf(records: TrackRecords, agent: string): TrackRecord {
  return Object.hasOwn(records, agent) ? records[agent]! : NO_RECORD;
}

/** What a line of history says about the work of the agent it names. What was cancelled, or lost with its process, is no fault of an agent. */
function outcomeOf({ name, role, error }: Event): WorkOutcome | undefined {
  if (typeof role === 'string' && !roleFacts(role).countsForTrackRecord) return undefined;
  if (name === 'task.completed') return 'accepted';
  if (name !== 'task.failed') return undefined;
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === 'off_goal') return 'rejected';
  return typeof code === 'string' && BLAMELESS.has(code) ? undefined : 'failed';
}

const BLAMELESS = new Set([
  'cancelled',
  'by_hand',
  'dependency_failed',
  'taker_lost',
  'unknown_agent',
  'unknown_model',
  'nobody_fit',
  'deadlock',
  'disk_failed',
  'cycle',
]);

export function tally({ recent }: TrackRecord): Record<WorkOutcome, number> {
  const count = (letter: string): number => recent.split(letter).length - 1;
  return { accepted: count('a'), rejected: count('r'), failed: count('f') };
}

/** From 0 to 1: how much of what it took on came to a good end; 1 for an agent of which nothing is known. */
export function reliability(record: TrackRecord): number {
  const { accepted, rejected, failed } = tally(record);
  return (accepted + GIVEN) / (accepted + rejected + failed + GIVEN);
}

export function recordText(record: TrackRecord): string {
  const { accepted, rejected, failed } = tally(record);
  if (accepted + rejected + failed === 0) return 'no record yet';
  return `${accepted} accepted, ${rejected} rejected, ${failed} failed`;
}
