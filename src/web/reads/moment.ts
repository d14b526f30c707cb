/**
 * The workspace at a moment: now, or as it was at a time of the past. Every read takes one, so that
 * each page can show both.
 */
import { openPast } from '../../app/readers/open-past.js';
import { wordsAt } from '../../app/approvals.js';
import { querySources } from '../../app/readers/query-sources.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import { compareText } from '../../domain/order.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { ENDED_STATES, isEnded, type Placed } from '../../domain/task/task.js';
import type { Feed } from '../base/feed.js';
import { logUntil, type Log } from '../base/log.js';
import { byNewest, listedOf, queryTasks, tasksQuery, type ListedTask } from './tasks.js';

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
  const ended = newestEnded(feed);
  const { store } = feed.states;
  return () => ({
    feed,
    log,
    whole: log,
    now: new Date(),
    snapshot: () => feed.snapshot(),
    task: (id) => store.tasks.read(id),
    tasks,
    ended,
  });
}

/** `at`: an ISO time. */
export async function pastOf(feed: Feed, log: Log, at: string): Promise<Moment> {
  const now = new Date(at);
  if (Number.isNaN(now.getTime())) throw new ProblemError(problem('bad_usage', `${JSON.stringify(at)} is not a time`));
  const iso = now.toISOString();
  const past = await openPast(
    feed.root,
    wordsAt(feed.root, feed.env),
    feed.states,
    (isWanted) => log.events(isWanted),
    iso,
  );
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

interface List {
  read(): Promise<ListedTask[]>;
  /** No page asks for this list any more. */
  stop(): void;
}

function keptQueries(feed: Feed): Moment['tasks'] {
  const lists = new Map<string, List>();
  const all = oncePerVersion(feed, allTasks(feed));
  return async (where) => {
    if (where.trim() === '') return all.read();
    const list = lists.get(where) ?? oncePerVersion(feed, matchingTasks(feed, where, all));
    lists.delete(where);
    lists.set(where, list);
    for (const [oldest, { stop }] of [...lists].slice(0, -QUERIES_KEPT)) {
      lists.delete(oldest);
      stop();
    }
    return list.read();
  };
}

/** A change drops the answer at once, whether or not anybody asks again. */
function oncePerVersion(feed: Feed, { read, stop }: List): List {
  let answer: Promise<ListedTask[]> | undefined;
  const off = feed.onChange(() => (answer = undefined));
  return {
    stop() {
      off();
      stop();
    },
    read: () => (answer ??= read()),
  };
}

function allTasks(feed: Feed): List {
  const query = (): Promise<ListedTask[]> =>
    queryTasks(feed.root, '', querySources(feed.root, wordsAt(feed.root, feed.env)));
  const ended = keptEnded(feed, {
    readAll: async () => (await query()).flatMap((row) => (isEnded(row.state) ? [[row.id, row]] : [])),
    of: listedOf,
  });
  return {
    async read() {
      const rows = new Map(await ended.read());
      for (const placed of (await feed.snapshot()).open) rows.set(placed.task.id, listedOf(placed));
      return [...rows.values()].sort(byNewest);
    },
    stop: ended.stop,
  };
}

/** Runs a query only on tasks that changed, and takes the rows from the list of all tasks. */
function matchingTasks(feed: Feed, where: string, all: List): List {
  const query = tasksQuery(feed.root, where, querySources(feed.root, wordsAt(feed.root, feed.env)));
  const ended = keptEnded<readonly unknown[]>(feed, {
    readAll: async () => [...(await query.keysOfAll(ENDED_STATES))],
    of: query.keysOf,
  });
  return {
    async read() {
      const rows = await all.read();
      const keys = new Map(await ended.read());
      for (const placed of (await feed.snapshot()).open) {
        const own = query.keysOf(placed);
        // A task may have been taken up again since it ended.
        if (own === undefined) keys.delete(placed.task.id);
        else keys.set(placed.task.id, own);
      }
      const matching = rows.filter(({ id }) => keys.has(id));
      return matching.sort((a, b) => query.compare(keys.get(a.id)!, keys.get(b.id)!)).slice(0, query.limit);
    },
    stop: ended.stop,
  };
}

function newestEnded(feed: Feed): () => Promise<Placed[]> {
  const { tasks } = feed.states.store;
  const kept = keptEnded(feed, {
    readAll: async () => (await tasks.ended({ limit: ENDED_READ })).map((placed) => [placed.task.id, placed]),
    of: (placed) => placed,
  });
  const endOf = ({ task }: Placed): string => task.ended_at ?? '';
  return async () =>
    [...(await kept.read()).values()].sort((a, b) => compareText(endOf(b), endOf(a))).slice(0, ENDED_READ);
}

/** If a file event was missed, an old list is shown at most this long. */
const ENDED_KEPT_MS = 30_000;
/** If more files changed, all are read. */
const CHANGED_MAX = 200;

interface EndedReads<T> {
  readAll: () => Promise<(readonly [id: string, value: T])[]>;
  /** The value of a task; undefined if the list does not include the task. */
  of: (placed: Placed) => T | undefined;
}

interface EndedKept<T> {
  read(): Promise<ReadonlyMap<string, T>>;
  stop(): void;
}

/** Ended tasks by id. Only those whose files changed are read again, one read after the other. */
function keptEnded<T>(feed: Feed, { readAll, of }: EndedReads<T>): EndedKept<T> {
  const following = feed.followEnded();
  let kept = new Map<string, T>();
  let readAt = -Infinity;
  const read = async (): Promise<Map<string, T>> => {
    const changed = following.changed();
    const isOld = Date.now() - readAt > ENDED_KEPT_MS;
    // After a failure everything is read again.
    const lastReadAt = readAt;
    readAt = -Infinity;
    if (isOld || changed === undefined || changed.size > CHANGED_MAX) {
      kept = new Map(await readAll());
      readAt = Date.now();
      return kept;
    }
    // The store knows that a task has just ended only after it has looked again.
    await feed.snapshot();
    for (const id of changed) {
      const placed = await feed.states.store.tasks.read(id);
      const value = placed !== undefined && isEnded(placed.state) ? of(placed) : undefined;
      if (value === undefined) kept.delete(id);
      else kept.set(id, value);
    }
    readAt = lastReadAt;
    return kept;
  };
  let last: Promise<Map<string, T>> = Promise.resolve(kept);
  return { read: () => (last = last.then(read, read)), stop: following.stop };
}
