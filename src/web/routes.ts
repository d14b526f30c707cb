/** The API: reads that are shared by all windows, one write route, one stream. */
import type { Context, Hono } from 'hono';
import { undoTo } from '../app/undo.js';
import { checkAgentText } from '../app/editing/write-agent.js';
import { problem, ProblemError } from '../domain/problem.js';
import type { Placed } from '../domain/task/task.js';
import type { Hello, Row, TurnsChanged, UndoPreview } from './base/contract.js';
import type { Feed } from './base/feed.js';
import { problemReply } from './guard.js';
import { intents, Stale } from './intents.js';
import type { Live } from './base/live.js';
import type { Log } from './base/log.js';
import { agentFile, agentList } from './reads/agents.js';
import { costsBy } from './reads/costs.js';
import { boardsOf, channelsOf, historyOf } from './reads/files.js';
import { countStates, hallOf, spendOf, startOfDay } from './reads/hall.js';
import { machinesOf } from './reads/machines.js';
import { promptOf } from './reads/prompt.js';
import { replayOf } from './reads/replay.js';
import { requestSource } from './reads/request-source.js';
import { requestsOf } from './reads/requests.js';
import { conversationOf, sessionList } from './reads/session.js';
import { taskDetail, whyOf } from './reads/task.js';
import { asBoard, asTree, queryTasks } from './reads/tasks.js';
import { waitGraph } from './reads/waits.js';
import { streams } from './stream.js';

export interface Served {
  root: string;
  env: Record<string, string | undefined>;
  feed: Feed;
  live: Live;
  log: Log;
  readOnly: boolean;
}

const ROWS_MAX = 500;
const ENDED_READ = 60;

export function routes(api: Hono, served: Served): void {
  const { feed, live, log, root, env } = served;
  const taskRows = taskLists(served);
  const get = (route: string, load: (context: Context) => Promise<unknown>): void => {
    api.get(route, async (context) => {
      const { body, etag } = await feed.answer(context.req.url, async () => {
        await log.refresh();
        return load(context);
      });
      if (context.req.header('if-none-match') === etag) return context.body(null, 304);
      return context.body(body, 200, { etag, 'content-type': 'application/json; charset=utf-8' });
    });
  };
  const id = (context: Context): string => context.req.param('id') ?? '';
  get('/hall', async () => hallOf(await feed.snapshot(), log, await newest(feed), new Date()));
  get('/requests', async () => requestsOf((await feed.snapshot()).open, await newest(feed)));
  get('/requests/:id', (context) => requestSource(root, id(context)));
  get('/tasks', async (context) => {
    const from = whole(context.req.query('from'), 0);
    const where = context.req.query('where') ?? '';
    const rows = await taskRows(where, context.req.query('order') === 'tree');
    const all = where === '' ? rows.length : (await taskRows('')).length;
    const to = Math.min(rows.length, whole(context.req.query('to'), from + 100), from + ROWS_MAX);
    return { total: rows.length, all, from, rows: rows.slice(from, to) };
  });
  get('/board', async (context) => asBoard(await taskRows(context.req.query('where') ?? '')));
  get('/tasks/:id', (context) => taskDetail(feed, log, id(context)));
  get('/tasks/:id/why', (context) => whyOf(feed, log, id(context)));
  get('/sessions', () => sessionList(feed));
  get('/sessions/:id', (context) => conversationOf(feed, id(context), whole(context.req.query('before'), Infinity)));
  get('/sessions/:id/prompt', (context) => promptOf(root, id(context), env));
  get('/agents', () => agentList(feed, log, env));
  get('/agents/:id', async (context) => agentFile(root, id(context), env));
  get('/waits', () => waitGraph(feed, log));
  get('/costs', async (context) => {
    const days = whole(context.req.query('days'), 14);
    return costsBy(log, await feed.snapshot(), context.req.query('by') ?? 'agent', days, new Date());
  });
  get('/machines', () => machinesOf(feed));
  get('/replay/:id', (context) => replayOf(feed, log, id(context)));
  get('/boards', async () => boardsOf(root));
  get('/notes', (context) => channelsOf(root, context.req.query('channel'), env));
  get('/history', () => historyOf(root, env));
  get('/history/:id/undo', async (context): Promise<UndoPreview> => {
    const { to, files } = await undoTo(root, id(context), env);
    return { to, files: files.map(({ path, change }) => ({ file: path, change })) };
  });
  // A check writes nothing; it is a POST because the text may be long.
  api.post('/agents/check', async (context) => {
    const { file, text } = (await context.req.json()) as { file?: unknown; text?: unknown };
    return context.json(checkAgentText(String(file ?? 'agents/new.md'), String(text ?? '')));
  });
  // Not kept per version: it changes with every word.
  api.get('/turns', (context) => context.json({ turns: live.turns(), ended: [] } satisfies TurnsChanged));
  api.get('/stream', streams(feed, live));
  if (!served.readOnly) writeRoute(api, served);
}

/** In read-only mode this route does not exist. */
function writeRoute(api: Hono, { root, env, feed }: Served): void {
  const submit = intents(root, env);
  api.post('/intents', async (context) => {
    if (!/^application\/json\b/.test(context.req.header('content-type') ?? ''))
      return problemReply(context, 415, problem('bad_usage', 'an intent is JSON'));
    try {
      const done = await submit(await context.req.json());
      feed.ring();
      return context.json(done, 202);
    } catch (thrown) {
      if (thrown instanceof Stale)
        return problemReply(context, 409, problem('not_a_move', thrown.message), {
          theirs: thrown.theirs,
          seen: thrown.seen,
        });
      throw thrown;
    }
  });
}

/** The counts in the frame of every page. */
export async function helloOf(
  served: Served,
  more: Omit<Hello, 'now' | 'counts' | 'spend' | 'processes'>,
): Promise<Hello> {
  const { feed, log } = served;
  await log.refresh();
  const { open, forHuman, peers } = await feed.snapshot();
  const now = new Date();
  const counts = { requests: forHuman.length, ...countStates(open) };
  const processes = peers.filter((peer) => peer.id !== feed.states.store.presence.peer.id).length;
  return { ...more, now: now.toISOString(), processes, counts, spend: spendOf(log, startOfDay(now)) };
}

const QUERIES_KEPT = 8;

/** The last queries are kept per version, so that scrolling does not run them again. */
function taskLists({ feed, root }: Served): (where: string, tree?: boolean) => Promise<Row[]> {
  let version = 0;
  let kept = new Map<string, Promise<Row[]>>();
  return (where, tree = false) => {
    if (version !== feed.version()) {
      version = feed.version();
      kept = new Map();
    }
    const key = `${tree ? 'tree' : 'list'} ${where}`;
    const run = kept.get(key) ?? queryTasks(root, where).then((rows) => (tree ? asTree(rows) : rows));
    kept.delete(key);
    kept.set(key, run);
    for (const oldest of [...kept.keys()].slice(0, -QUERIES_KEPT)) kept.delete(oldest);
    return run;
  };
}

function newest({ states }: Feed): Promise<Placed[]> {
  return states.store.tasks.ended({ limit: ENDED_READ });
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new ProblemError(problem('bad_usage', `${JSON.stringify(text)} is not a whole number`));
}
