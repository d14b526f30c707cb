/**
 * The workspace at a moment: now, or as it was at a time of the past. Every read takes one, so that
 * each page can show both.
 */
import { openPast } from '../../app/readers/past/open-past.js';
import { querySources } from '../../app/readers/query-sources.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import type { Feed } from '../base/feed.js';
import { logUntil, type Log } from '../base/log.js';
import { byNewest, listedOf, queryTasks, type ListedTask } from './tasks.js';

export interface Moment {
  feed: Feed;
  log: Log;
  /** The whole log, including events after this moment. */
  whole: Log;
  now: Date;
  /** Absent: now. */
  at?: string;
  snapshot(): Promise<Snapshot>;
  task(id: string): Promise<Placed | undefined>;
  /** All matching tasks, in order. */
  tasks(where: string): Promise<ListedTask[]>;
  /** The newest ended tasks, newest first. */
  ended(): Promise<Placed[]>;
}

const ENDED_READ = 60;

/** The last queries are kept per version for all windows, so that scrolling runs none again. */
export function presentOf(feed: Feed, log: Log): () => Moment {
  const tasks = keptQueries(feed);
  const { store } = feed.states;
  return () => ({
    feed,
    log,
    whole: log,
    now: new Date(),
    snapshot: () => feed.snapshot(),
    task: (id) => store.tasks.read(id),
    tasks,
    ended: () => store.tasks.ended({ limit: ENDED_READ }),
  });
}

/** `at`: an ISO time. */
export async function pastOf(feed: Feed, log: Log, at: string): Promise<Moment> {
  const now = new Date(at);
  if (Number.isNaN(now.getTime())) throw new ProblemError(problem('bad_usage', `${JSON.stringify(at)} is not a time`));
  const iso = now.toISOString();
  const past = await openPast(feed.root, feed.states, (isWanted) => log.events(isWanted), iso);
  const tasks = (where: string): Promise<ListedTask[]> => queryTasks(feed.root, where, past.sources);
  return {
    feed,
    log: logUntil(log, iso),
    whole: log,
    now,
    at: iso,
    snapshot: async () => past.snapshot,
    task: past.task,
    tasks,
    async ended() {
      const rows = await tasks("state IN ('completed', 'failed') ORDER BY ended_at DESC");
      const placed = await Promise.all(rows.slice(0, ENDED_READ).map(({ id }) => past.task(id)));
      return placed.flatMap((each) => each ?? []);
    },
  };
}

const QUERIES_KEPT = 8;

function keptQueries(feed: Feed): Moment['tasks'] {
  const query = (where: string): Promise<ListedTask[]> => queryTasks(feed.root, where, querySources(feed.root));
  const all = allTasks(feed, () => query(''));
  let version = 0;
  let kept = new Map<string, Promise<ListedTask[]>>();
  return (where) => {
    if (version !== feed.version()) {
      version = feed.version();
      kept = new Map();
    }
    const run = kept.get(where) ?? (where === '' ? all() : query(where));
    kept.delete(where);
    kept.set(where, run);
    for (const oldest of [...kept.keys()].slice(0, -QUERIES_KEPT)) kept.delete(oldest);
    return run;
  };
}

/** A missed file event shows an old list no longer than this. */
const ENDED_KEPT_MS = 30_000;

/** All tasks, newest first. Ended ones are read again only after a change in their folders. */
function allTasks(feed: Feed, query: () => Promise<ListedTask[]>): () => Promise<ListedTask[]> {
  let ended: ListedTask[] | undefined;
  let changes = -1;
  let readAt = 0;
  return async () => {
    const now = feed.endedChanges();
    if (ended === undefined || now === undefined || now !== changes || Date.now() - readAt > ENDED_KEPT_MS) {
      const rows = await query();
      ended = rows.filter(({ state }) => isEnded(state));
      changes = now ?? -1;
      readAt = Date.now();
      return rows;
    }
    const { open } = await feed.snapshot();
    const known = new Set(open.map(({ task }) => task.id));
    const rows = [...open.map(listedOf), ...ended.filter(({ id }) => !known.has(id))];
    return rows.sort(byNewest);
  };
}
