/**
 * Work that does not come on although nobody waits in a circle. Starved: a task could begin, and others of its agent begin again and again
 * before it. Without progress: turn after turn is taken under a root, and nothing changes, no task made or ended and no effect. Both are told once, and
 * nothing is done about them: a person, or the coordinator, knows better.
 */
import type { Event } from '../domain/event.js';
import type { Task } from '../domain/task.js';
import { record, type Parts } from './parts.js';

export interface Stuck {
  heard(event: Event): void;
  /** It could begin, and there was no room. */
  passedOver(task: Task, agent: string): void;
  began(task: string, agent: string): void;
}

const STARVED_MS = 10 * 60_000;
const STARVED_STARTS = 5;
/** Turns of a whole root in a row that changed nothing. */
export const IDLE_TURNS = 40;

export function stuck(parts: Parts, rootOf: (task: string) => string): Stuck {
  const passed = new Map<string, { sinceMs: number; starts: number; told: boolean }>();
  const starts = new Map<string, number>();
  const turns = new Map<string, number>();

  return {
    heard(event) {
      if (event.task === undefined) return;
      if (event.name === 'task.failed') passed.delete(event.task);
      const root = rootOf(event.task);
      if (event.name === 'model.answered') {
        const count = (turns.get(root) ?? 0) + 1;
        turns.set(root, count);
        if (count === IDLE_TURNS) tell(root, 'no_progress', `${count} turns were taken under it, and nothing changed`);
      } else if (isChange(parts, event)) turns.delete(root);
    },
    passedOver({ id }, agent) {
      const now = parts.clock.monotonicMs();
      const known = passed.get(id) ?? { sinceMs: now, starts: starts.get(agent) ?? 0, told: false };
      passed.set(id, known);
      const others = (starts.get(agent) ?? 0) - known.starts;
      if (known.told || now - known.sinceMs < STARVED_MS || others < STARVED_STARTS) return;
      known.told = true;
      const minutes = Math.round((now - known.sinceMs) / 60_000);
      tell(
        id,
        'starved',
        `it could begin for ${minutes} minutes, and ${others} other tasks of ${agent} began before it`,
      );
    },
    began(task, agent) {
      passed.delete(task);
      starts.set(agent, (starts.get(agent) ?? 0) + 1);
    },
  };

  /** Another process, or this one before it was started again, may have told it. */
  function tell(task: string, kind: 'starved' | 'no_progress', why: string): void {
    const before = parts.store.events({ task }).some((one) => one.name === 'work.stuck' && one['kind'] === kind);
    if (!before) record(parts, 'work.stuck', { task, kind, why });
  }
}

const CHANGES = new Set<Event['name']>(['task.created', 'task.completed', 'task.failed', 'approval.answered']);

function isChange({ tools }: Parts, event: Event): boolean {
  if (CHANGES.has(event.name)) return true;
  return event.name === 'tool.ran' && event['ok'] === true && tools.get(String(event['tool']))?.kind === 'effect';
}
