/**
 * The event log for all windows: the index as of the start, plus the events since then in memory.
 * Each look reads only the lines that were added.
 */
import { eventsInMemory, joinedEvents, type EventHistory } from '../../app/readers/aggregates/open-index.js';
import { openEvents } from '../../app/readers/log/open-events.js';
import type { StatesView } from '../../app/readers/open-states.js';
import type { Event } from '../../domain/event.js';
import { addToSums, type AgentSums } from './agent-sums.js';

export interface Log extends EventHistory {
  /** Each event is counted once, however often this is read. */
  agents(): ReadonlyMap<string, AgentSums>;
  /** Reads the lines that were added since the last call. */
  refresh(): Promise<void>;
}

/** Above this number of events the index is read again, so that memory does not grow with time. */
const TAIL_MAX = 20_000;

/** `states` belongs to the same workspace and stays open for as long as the log is read. */
export async function openLog(root: string, { store }: StatesView): Promise<Log> {
  let log = await openEvents(root, { store });
  let added: Event[] = [];
  let sums: Map<string, AgentSums> | undefined;
  const seen = (): EventHistory => joinedEvents(log.seen, eventsInMemory(added));

  return {
    async refresh() {
      const more = await log.more();
      added.push(...more);
      if (sums !== undefined) addToSums(sums, eventsInMemory(more));
      if (added.length < TAIL_MAX) return;
      log = await openEvents(root, { store });
      added = [];
      sums = undefined;
    },
    agents: () => (sums ??= addToSums(new Map(), seen())),
    events: (isWanted, which) => seen().events(isWanted, which),
    calls: (since) => seen().calls(since),
    lineage: () => seen().lineage(),
  };
}

export function logUntil(log: Log, at: string): Log {
  const until: Log = {
    ...log,
    agents: () => addToSums(new Map(), until),
    events: (isWanted, { limit = Infinity, ...which } = {}) =>
      log
        .events(isWanted, which)
        .filter((event) => event.at <= at)
        .slice(-limit),
    *calls(since) {
      for (const call of log.calls(since)) if (call.at <= at) yield call;
    },
  };
  return until;
}
