/**
 * The event log for all windows: the index as of the start, plus the events since then in memory.
 * Each look reads only the lines that were added.
 */
import { callOf } from '../../app/readers/aggregates/events-in-memory.js';
import { openEvents } from '../../app/readers/log/open-events.js';
import type { CallSeen, EventsSeen } from '../../app/readers/aggregates/open-index.js';
import type { StatesView } from '../../app/readers/open-states.js';
import type { Event } from '../../domain/event.js';

export interface Log {
  /** Reads the lines that were added since the last call. */
  refresh(): Promise<void>;
  events(isWanted: (name: string, task: string | undefined) => boolean): Event[];
  /** Model and tool calls since this time, oldest first. */
  calls(sinceIso?: string): CallSeen[];
  /** The whole log as the index sees it now. */
  index(): EventsSeen;
}

/** Above this number of events the index is read again, so that memory does not grow with time. */
const TAIL_MAX = 20_000;

/** `states`: of the same workspace, open for as long as the log is read. */
export async function openLog(root: string, { store }: StatesView): Promise<Log> {
  let log = await openEvents(root, { store });
  let added: Event[] = [];

  return {
    async refresh() {
      added.push(...(await log.more()));
      if (added.length < TAIL_MAX) return;
      log = await openEvents(root, { store });
      added = [];
    },
    events: (isWanted) => [...log.seen.events(isWanted), ...added.filter(({ name, task }) => isWanted(name, task))],
    calls(sinceIso = '') {
      const old = [...log.seen.calls()].filter(({ at }) => at >= sinceIso);
      return [...old, ...added.flatMap((event) => (event.at >= sinceIso ? callOf(event) : []))];
    },
    index: () => log.now(),
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
