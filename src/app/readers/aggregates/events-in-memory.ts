/** A log whose events were all read, as the index shows one. */
import { callCost, type Event } from '../../../domain/event.js';
import type { CallSeen, EventsSeen } from '../../../ports/aggregates/event-index.js';

export function eventsInMemory(all: readonly Event[]): EventsSeen {
  return {
    size: all.length,
    columns: () => [...new Set(all.flatMap((event) => Object.keys(event)))],
    *calls() {
      for (const event of all) yield* callOf(event);
    },
    lineage: () => all.filter(({ task, root }) => task !== undefined && root !== undefined),
    events(isWanted, limit) {
      const wanted = all.filter(({ name, task }) => isWanted(name, task));
      return limit === undefined ? wanted : wanted.slice(-limit);
    },
    *rows() {
      for (const event of all) yield { row: event, read: () => event };
    },
    ends: () => new Map(),
  };
}

/** Two parts of one log, the older first. */
export function joinedEvents(older: EventsSeen, newer: EventsSeen): EventsSeen {
  return {
    size: older.size + newer.size,
    columns: () => [...new Set([...older.columns(), ...newer.columns()])],
    *calls() {
      yield* older.calls();
      yield* newer.calls();
    },
    *lineage() {
      yield* older.lineage();
      yield* newer.lineage();
    },
    events(isWanted, limit = Infinity) {
      const last = newer.events(isWanted, limit);
      return last.length < limit ? [...older.events(isWanted, limit - last.length), ...last] : last;
    },
    *rows(keys) {
      yield* older.rows(keys);
      yield* newer.rows(keys);
    },
    ends: () => new Map([...older.ends(), ...newer.ends()]),
  };
}

/** A model call, or a tool call that was made; else nothing. */
export function callOf(event: Event): CallSeen[] {
  const isTool = event.name === 'tool.ran' && event['made'] !== false;
  const kind = event.name === 'model.answered' ? 'model' : isTool ? 'tool' : undefined;
  if (kind === undefined) return [];
  const text = (name: string): string | undefined => (typeof event[name] === 'string' ? event[name] : undefined);
  return [
    {
      ...callCost(event),
      kind,
      at: event.at,
      task: event.task,
      agent: event.agent,
      model: text('model'),
      role: text('role'),
    },
  ];
}
