/**
 * The event log for all windows: the index as of the start, plus the events since then in memory.
 * Each look reads only the lines that were added.
 */
import { eventTail } from '../../app/readers/aggregates/event-tail.js';
import { openEventIndex, type CallSeen, type EventsSeen } from '../../app/readers/aggregates/open-index.js';
import { callCost, type Event } from '../../domain/event.js';

export interface Log {
  /** Reads the lines that were added since the last call. */
  refresh(): void;
  events(isWanted: (name: string, task: string | undefined) => boolean): Event[];
  /** Model and tool calls since this time, oldest first. */
  calls(sinceIso?: string): CallSeen[];
  /** The whole log as the index sees it now. */
  index(): EventsSeen;
}

/** More than this, and the index is asked again, so that memory does not grow with time. */
const TAIL_MAX = 20_000;

export function openLog(root: string): Log {
  const index = openEventIndex(root);
  let seen = index.look();
  let tail = eventTail(root, seen.ends());
  let added: Event[] = [];

  return {
    refresh() {
      added.push(...tail());
      if (added.length < TAIL_MAX) return;
      seen = index.look();
      tail = eventTail(root, seen.ends());
      added = [];
    },
    events: (isWanted) => [...seen.events(isWanted), ...added.filter(({ name, task }) => isWanted(name, task))],
    calls(sinceIso = '') {
      const old = [...seen.calls()].filter(({ at }) => at >= sinceIso);
      return [...old, ...added.flatMap((event) => (event.at >= sinceIso ? callOf(event) : []))];
    },
    index: () => index.look(),
  };
}

/** The log as it was at this time. */
export function logUntil(log: Log, atIso: string): Log {
  const isThen = ({ at }: { at: string }): boolean => at <= atIso;
  return {
    refresh: log.refresh,
    events: (isWanted) => log.events(isWanted).filter(isThen),
    calls: (sinceIso) => log.calls(sinceIso).filter(isThen),
    index() {
      const seen = log.index();
      return {
        ...seen,
        size: seen.size,
        calls: () => [...seen.calls()].filter(isThen),
        events: (isWanted, limit) =>
          seen
            .events(isWanted)
            .filter(isThen)
            .slice(limit === undefined ? 0 : -limit),
      };
    },
  };
}

function callOf(event: Event): CallSeen[] {
  const kind = event.name === 'model.answered' ? 'model' : event.name === 'tool.ran' ? 'tool' : undefined;
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
