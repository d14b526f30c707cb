/** A log whose events were all read, as the index shows one. */
import { callCost, type Event } from '../../domain/event.js';
import type { CallSeen, EventsSeen } from '../../ports/aggregates/event-index.js';

export function eventsInMemory(all: readonly Event[]): EventsSeen {
  return {
    size: all.length,
    columns: () => [...new Set(all.flatMap((event) => Object.keys(event)))],
    *calls(since = '') {
      for (const event of all) if (event.at >= since) yield* callOf(event);
    },
    lineage: () => all.filter(({ task, root }) => task !== undefined && root !== undefined),
    events(isWanted, { limit = Infinity, since = '' } = {}) {
      return all.filter(({ name, task, at }) => isWanted(name, task) && (since === '' || at >= since)).slice(-limit);
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
    *calls(since) {
      yield* older.calls(since);
      yield* newer.calls(since);
    },
    *lineage() {
      yield* older.lineage();
      yield* newer.lineage();
    },
    events(isWanted, { limit = Infinity, ...which } = {}) {
      const last = newer.events(isWanted, { limit, ...which });
      return last.length < limit
        ? [...older.events(isWanted, { limit: limit - last.length, ...which }), ...last]
        : last;
    },
    *rows(keys) {
      yield* older.rows(keys);
      yield* newer.rows(keys);
    },
    ends: () => new Map([...older.ends(), ...newer.ends()]),
  };
}

/** A model call, or a tool call that was made; empty for anything else. */
function callOf(event: Event): CallSeen[] {
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
