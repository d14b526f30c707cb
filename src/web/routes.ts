/** The API: reads that are shared by all windows, one write route, one stream. */
import type { Context, Hono } from 'hono';
import { previewUndo } from '../app/undo.js';
import { checkAgentText } from '../app/editing/write-agent.js';
import { defined } from '../domain/defined.js';
import { problem, ProblemError } from '../domain/problem.js';
import type { Hello, TaskPage, TurnsChanged, UndoPreview } from './base/contract.js';
import { answerOf, type Feed } from './base/feed.js';
import { problemReply } from './guard.js';
import { intents, Stale } from './intents.js';
import type { Live } from './base/live.js';
import type { Log } from './base/log.js';
import { agentFile, agentList, agentSchema, bidsOf } from './reads/agents.js';
import { costsBy } from './reads/costs.js';
import { boardsOf, channelsOf, historyOf } from './reads/files.js';
import { countStates, hallOf, spendToday } from './reads/hall.js';
import { machinesOf } from './reads/machines.js';
import { missingKeys } from './reads/missing-keys.js';
import { pastOf, presentOf, type Moment } from './reads/moment.js';
import { promptOf } from './reads/texts/prompt.js';
import { replayOf } from './reads/replay.js';
import { requestSource } from './reads/request-source.js';
import { requestsOf } from './reads/requests.js';
import { messagesWith } from './reads/texts/search.js';
import { conversationOf, conversationsOf } from './reads/session.js';
import { lastValid } from './reads/last-valid.js';
import { taskDetail, whyOf } from './reads/task.js';
import { asBoard, rowOnly } from './reads/tasks.js';
import { spansBetween } from './reads/tree.js';
import { openViews, type Fold } from './views.js';
import { cyclesIn, waitGraph } from './reads/waiting/waits.js';
import { wholeText } from './reads/texts/whole-text.js';
import { redaction } from './redact.js';
import { checkGuestQuery, forGuests, outsideOf, talkForGuests, undoForGuests } from './showing.js';
import { streams } from './stream.js';

export interface Served {
  root: string;
  env: Record<string, string | undefined>;
  feed: Feed;
  live: Live;
  log: Log;
  readOnly: boolean;
  /** Called when a browser follows the workspace. */
  onOpen: () => void;
}

const ROWS_MAX = 500;

/** For stored text: whatever it says, a browser that opens it saves it and runs nothing. */
const INERT = {
  'content-type': 'text/plain; charset=utf-8',
  'content-disposition': 'attachment',
  'content-security-policy': "default-src 'none'; sandbox",
};

type Load = (context: Context, moment: Moment) => Promise<unknown>;

export function routes(api: Hono, served: Served): void {
  const { feed, live, log, root, env } = served;
  const present = presentOf(feed, log);
  const guests = served.readOnly ? redaction(root, env) : undefined;
  const read = async (context: Context, moment: Moment, load: Load): Promise<unknown> => {
    const answer = await load(context, moment);
    return guests === undefined ? answer : guests.value(forGuests(answer, outsideOf(await moment.tasks(''))));
  };
  const momentAt = async (at?: string): Promise<Moment> => {
    await log.refresh();
    return at === undefined ? present() : pastOf(feed, log, at);
  };
  const get = (route: string, load: Load, isKept = true): void => {
    api.get(route, async (context) => {
      const at = context.req.query('at');
      // Answers about the past are not cached, because hardly any moment is asked for twice.
      const { body, etag } =
        isKept && at === undefined
          ? await feed.answer(context.req.url, async () => read(context, await momentAt(), load))
          : answerOf(await read(context, await momentAt(at), load));
      if (context.req.header('if-none-match') === etag) return context.body(null, 304);
      return context.body(body, 200, { etag, 'content-type': 'application/json; charset=utf-8' });
    });
  };
  const id = (context: Context): string => context.req.param('id') ?? '';
  const allowed = (where: string): string => {
    if (guests !== undefined) checkGuestQuery(where);
    return where;
  };
  const views = openViews(momentAt);
  const rowsOf: Load = (context) => {
    const from = whole(context.req.query('from'), 0);
    const to = Math.min(whole(context.req.query('to'), from + 100), from + ROWS_MAX);
    return views.rows(id(context), from, to);
  };
  // Ranges are not cached: scrolling asks for many, and the list behind them is kept anyway.
  get('/views/:id', rowsOf, false);
  get('/hall', async (_, moment) =>
    hallOf(await moment.snapshot(), moment.log, await moment.ended(), feed.own, await cyclesIn(moment), moment.now),
  );
  get('/requests', async (_, moment) => requestsOf(await moment.snapshot(), await moment.ended(), feed.own));
  get('/requests/:id', (context) => requestSource(root, id(context), feed.own));
  get('/tasks', async (context, moment) => {
    const tasks = await moment.tasks(allowed(context.req.query('where') ?? ''));
    const limit = Math.min(whole(context.req.query('limit'), 100), ROWS_MAX);
    return { total: tasks.length, rows: tasks.slice(0, limit).map(rowOnly) } satisfies TaskPage;
  });
  // Nothing is written: it is a POST because the server keeps something for a while.
  api.post('/views', async (context) => {
    const { where, order, at, keep, fold } = (await context.req.json()) as Record<string, unknown>;
    const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
    const query = { where: allowed(text(where) ?? ''), isTree: order === 'tree', at: text(at), fold: foldOf(fold) };
    return context.json(await views.open(query, text(keep)));
  });
  get('/board', async (context, moment) =>
    asBoard((await moment.tasks(allowed(context.req.query('where') ?? ''))).map(rowOnly)),
  );
  get('/tasks/:id', (context, moment) => taskDetail(moment, id(context)));
  get('/tasks/:id/why', (context, moment) => whyOf(moment, id(context)));
  get('/tasks/:id/spans', (context, moment) => {
    const { from, to } = context.req.query();
    return spansBetween(moment, id(context), whole(from, 0), whole(to, Date.now()));
  });
  get('/sessions', (context, moment) => conversationsOf(moment, whole(context.req.query('from'), 0)));
  get('/sessions/:id', async (context, moment) => {
    const talk = await conversationOf(moment, id(context), whole(context.req.query('before'), Infinity));
    return guests === undefined ? talk : talkForGuests(talk, guests);
  });
  // These answers contain text from outside in full, or would let a guest guess its words.
  if (guests === undefined) {
    get('/messages', (context, moment) => messagesWith(moment, context.req.query('text') ?? ''));
    get('/sessions/:id/prompt', (context) => promptOf(root, id(context), env));
    for (const of of ['sessions', 'tasks'])
      api.get(`/${of}/:id/texts/:hash`, async (context) => {
        const bytes = await wholeText(root, of, id(context), context.req.param('hash'));
        return context.body(new Uint8Array(bytes), 200, INERT);
      });
  }
  get('/bids', (_, moment) => bidsOf(moment));
  get('/agents', (_, moment) => agentList(moment, env));
  get('/agents/:id', async (context) => {
    const file = agentFile(root, id(context), env);
    return defined({ ...file, lastValid: await lastValid(feed, file) });
  });
  get('/schemas/agent', async () => agentSchema());
  get('/waits', (_, moment) => waitGraph(moment));
  get('/costs', async (context, moment) => {
    const days = whole(context.req.query('days'), 14);
    return costsBy(moment.log, await moment.snapshot(), context.req.query('by') ?? 'agent', days, moment.now);
  });
  get('/machines', () => machinesOf(feed));
  get('/replay/:id', (context, moment) => replayOf(moment, id(context)));
  get('/boards', async () => boardsOf(root, env));
  get('/notes', (context, moment) => channelsOf(moment, context.req.query('channel'), env));
  get('/history', (_, moment) => historyOf(root, env, moment));
  get('/history/:id/undo', async (context): Promise<UndoPreview> => {
    const { to, files } = await previewUndo(root, id(context), env);
    const preview = { to, files: files.map(({ path, ...rest }) => ({ file: path, ...rest })) };
    return guests === undefined ? preview : undoForGuests(preview);
  });
  // A check writes nothing; it is a POST because the text may be long.
  api.post('/agents/check', async (context) => {
    const { file, text } = (await context.req.json()) as { file?: unknown; text?: unknown };
    return context.json(checkAgentText(String(file ?? 'agents/new.md'), String(text ?? '')));
  });
  // Not cached per version, because the turns change with every word.
  const words = served.readOnly ? undefined : live;
  api.get('/turns', (context) => context.json({ turns: words?.turns() ?? [], ended: 'others' } satisfies TurnsChanged));
  api.get('/stream', streams(feed, words, served.onOpen));
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

type HelloRead = Pick<Hello, 'processes' | 'missingKeys' | 'counts' | 'spend'>;

/** The counts in the frame of every page. */
export async function helloOf(served: Served, more: Omit<Hello, 'now' | keyof HelloRead>): Promise<Hello> {
  const { feed, log } = served;
  const now = new Date();
  const { body } = await feed.answer('hello', async () => {
    await log.refresh();
    const seen = await feed.snapshot();
    const { open, forHuman, peers } = seen;
    const counts = { requests: forHuman.length, ...countStates(open) };
    const processes = peers.filter((peer) => peer.id !== feed.states.store.presence.peer.id).length;
    return { processes, missingKeys: missingKeys(seen, feed), counts, spend: spendToday(seen, log, now) };
  });
  return { ...more, now: now.toISOString(), ...(JSON.parse(body) as HelloRead) };
}

/** Undefined if it is not a fold: then everything is open. */
function foldOf(value: unknown): Fold | undefined {
  const { depth, turned } = (value ?? {}) as Record<string, unknown>;
  if (!Array.isArray(turned)) return undefined;
  return { depth: typeof depth === 'number' ? depth : Infinity, turned: new Set(turned.map(String)) };
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new ProblemError(problem('bad_usage', `${JSON.stringify(text)} is not a whole number`));
}
