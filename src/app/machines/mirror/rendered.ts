/** Records of the ledger as the files that people know, and the ids by which both are compared. */
import { parseMapping } from '../../../domain/mapping.js';
import { createHash } from 'node:crypto';
import { claimName } from '../../../adapters/files/base/layout.js';
import { resultPage } from '../../../adapters/files/records/result-page.js';
import { EFFECT } from '../../../adapters/far/effects.js';
import { EVENTS, INTENT } from '../../../adapters/far/records.js';
import { parseRow, TASK } from '../../../adapters/far/rows.js';
import { replay, SESSION } from '../../../adapters/far/sessions.js';
import { attempt } from '../../../domain/attempt.js';
import type { Event } from '../../../domain/event.js';
import type { Session } from '../../../domain/session/session.js';
import type { Intent } from '../../../domain/task/intent.js';
import type { Outcome } from '../../../domain/task/outcome.js';
import { hasPage } from '../../../domain/task/result-page.js';
import { isEnded, type Placed } from '../../../domain/task/task.js';
import { printOutcome } from '../../../text/records/outcome.js';
import { printTask } from '../../../text/records/task.js';
import { sessionStatus, sessionText } from '../../far/session-text.js';

export { EFFECT, EVENTS, INTENT, SESSION, TASK };

export interface Rendered {
  path: string;
  text: string;
}

export function taskFile({ task, state, owner }: Placed): Rendered {
  const name = state === 'active' && owner ? claimName(task.id, owner.agent, owner.peer) : `${task.id}.json`;
  return { path: `tasks/${state}/${name}`, text: printTask(task) };
}

/** Only a task that a person or another program asked for has a page. */
export function resultFile({ task, state }: Placed): Rendered | undefined {
  if (!isEnded(state) || !hasPage(task)) return undefined;
  return { path: `results/${task.id}.md`, text: resultPage(task) };
}

/** `task`: the status follows from the task's state and is not stored. */
export function sessionFile(id: string, { header, messages }: Session, task?: Placed): Rendered {
  const status = task === undefined ? header.status : sessionStatus(task);
  return { path: `sessions/${id}.session.yaml`, text: sessionText({ header: { ...header, status }, messages }) };
}

/** The task of each conversation; the newest if there are several. */
export function tasksBySession(tasks: Iterable<Placed>): Map<string, Placed> {
  const found = new Map<string, Placed>();
  for (const placed of tasks) {
    const { session } = placed.task;
    const other = session === undefined ? undefined : found.get(session);
    if (session !== undefined && (other === undefined || isNewer(placed, other))) found.set(session, placed);
  }
  return found;
}

function isNewer({ task: a }: Placed, { task: b }: Placed): boolean {
  return a.created_at === b.created_at ? a.id > b.id : a.created_at > b.created_at;
}

export interface EffectRecord {
  digest: string;
  what: string;
  at: string;
  outcome?: Outcome;
}

export function effectFile(id: string, { digest, what, at, outcome }: EffectRecord): Rendered {
  const ended = outcome === undefined ? '' : `${printOutcome(outcome)}\n`;
  return { path: `.guild/run/${id}.started`, text: `${JSON.stringify({ digest, what, at })}\n${ended}` };
}

export function intentFile(intent: Intent): Rendered {
  const time = intent.at.replaceAll(/[^0-9TZ]/g, '');
  return { path: `.guild/intents/${time}-${intent.id}.json`, text: JSON.stringify(intent) };
}

export function eventDay(text: string): string | undefined {
  return /^\d{4}-\d\d-\d\d/.exec(String(parseMapping(text)?.['at']))?.[0];
}

/** Undefined if a field that messages are made of is not text: any worker can write the line. */
export function eventOf(text: string): Event | undefined {
  const event = attempt(() => JSON.parse(text) as Event | null) ?? undefined;
  if (typeof event?.name !== 'string' || typeof event.at !== 'string') return undefined;
  const { task, agent, cause, parent, root } = event;
  const isText = [task, agent, cause, parent, root].every((field) => field === undefined || typeof field === 'string');
  return isText ? event : undefined;
}

/** Undefined: an undo removed the task. */
export function taskOf(value: string): Placed | undefined {
  return parseRow(value);
}

export function sessionOf(texts: readonly string[]): Session | undefined {
  return replay(texts);
}

export function sumOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
