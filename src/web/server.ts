/**
 * `guild ui`: one HTTP server on this machine that shows a workspace and submits intents. It keeps
 * no state of its own: stop it, and nothing is lost.
 */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { keepWindowPlace, windowPlace } from '../app/trust/window-place.js';
import { defined } from '../domain/defined.js';
import { problem, ProblemError } from '../domain/problem.js';
import { openWebhooks, type Webhooks } from '../app/doors/webhooks.js';
import { openAssets, type Assets } from './assets.js';
import type { Hello } from './base/contract.js';
import { COOKIE_SECONDS, entry, newToken } from './entry.js';
import { openFeed } from './base/feed.js';
import { contentPolicy, entered, limitRate, problemReply, refuse, sameSite, type Guarded } from './guard.js';
import { listen, type Bound, type Listening } from './listen.js';
import { openLive } from './base/live.js';
import { openLog } from './base/log.js';
import { page } from './page.js';
import { ViewGone } from './views.js';
import { hookRoutes } from './hooks.js';
import { loopbackNames } from './serve-hooks.js';
import { helloOf, routes, type Served } from './routes.js';

interface ServerOptions {
  root: string;
  env: Record<string, string | undefined>;
  /** 0: the port of the last start, or a free one. */
  port: number;
  readOnly: boolean;
  /** Where it listens; default: this machine only. */
  listening?: Listening;
  /** The worker that runs as a child of this server, for the page to show. */
  worker?: () => Hello['worker'];
  /** The scene of a demo that plays here. */
  story?: () => Hello['story'];
  /** Called when a browser shows the window, each time. */
  onOpen?: () => void;
}

export interface WindowServer {
  /** An address that opens the window once, within a minute. */
  link(): string;
  port: number;
  /** Lets the pages read again, for a change that no file shows. */
  ring(): void;
  close(): Promise<void>;
}

const BODY_MAX = 1024 * 1024;

export async function startServer(options: ServerOptions): Promise<WindowServer> {
  const { root, env, readOnly } = options;
  const assets = openAssets();
  const place = windowPlace(root, env, readOnly);
  const feed = await openFeed(root, env);
  const live = openLive(root, env);
  const { onOpen = () => undefined } = options;
  const served: Served = { root, env, feed, live, log: await openLog(root, feed.states), readOnly, onOpen };
  const webhooks = readOnly ? undefined : openWebhooks(root, env, () => undefined);
  const doors: Doors = { webhooks, hosts: new Set() };
  const name = path.basename(path.resolve(root));
  const guarded: Guarded = {
    entry: entry(place.key),
    // Cookies ignore ports, so each workspace has its own name.
    cookieName: `guild_${createHash('sha256').update(path.resolve(root)).digest('hex').slice(0, 12)}`,
    hosts: new Set(),
    scheme: 'http',
  };
  const hello = (csrf: string): Promise<Hello> =>
    helloOf(served, {
      boot: feed.boot,
      cursor: feed.cursor(),
      assets: assets.id,
      workspace: { name, path: path.resolve(root), shown: fromHome(path.resolve(root), env['HOME']) },
      readOnly,
      csrf,
      worker: options.worker?.() ?? null,
      ...defined({ story: options.story?.() }),
    });
  const app = appOf(guarded, assets, served, { title: `${name} · Guildhall`, hello, doors });
  const bound = await boundAt(app, options, place.port, place.hostName).catch(async (thrown: unknown) => {
    live.close();
    await webhooks?.close();
    await feed.close();
    throw thrown;
  });
  for (const host of bound.hosts) guarded.hosts.add(host);
  for (const host of loopbackNames(bound.port)) doors.hosts.add(host);
  guarded.scheme = bound.scheme;
  const address = `${bound.scheme}://${bound.hosts[0]!}/`;
  keepWindowPlace(root, env, readOnly, { ...place, port: bound.port, address });
  return {
    port: bound.port,
    ring: feed.ring,
    link: () => `${address}#t=${newToken(place.key)}`,
    async close() {
      await bound.close();
      live.close();
      await webhooks?.close();
      await feed.close();
    },
  };
}

function fromHome(folder: string, home: string | undefined): string {
  return home !== undefined && folder.startsWith(`${home}${path.sep}`) ? `~${folder.slice(home.length)}` : folder;
}

/** The port of the last start is taken again, so that open windows find the server. */
async function boundAt(app: Hono, options: ServerOptions, before: number, hostName: string): Promise<Bound> {
  const listening = options.listening ?? {};
  if (options.port !== 0 || before === 0) return listen(app, listening, options.port, hostName);
  return listen(app, listening, before, hostName).catch(() => listen(app, listening, 0, hostName));
}

/** Webhooks of other programs. A read-only window takes none. */
interface Doors {
  webhooks: Webhooks | undefined;
  hosts: Set<string>;
}

interface Shown {
  title: string;
  hello: (csrf: string) => Promise<Hello>;
  doors: Doors;
}

function appOf(guarded: Guarded, assets: Assets, served: Served, { title, hello, doors }: Shown): Hono {
  const { cookieName } = guarded;
  const app = new Hono();
  const { webhooks, hosts } = doors;
  if (webhooks !== undefined) app.route('/', hookRoutes({ webhooks, hosts }));
  app.use(limitRate(cookieName), sameSite(guarded), bodyLimit({ maxSize: BODY_MAX, onError: tooLarge }));
  app.get('/assets/:name', (context) => asset(context, assets));
  app.post('/api/enter', async (context) => {
    const { token } = (await context.req.json()) as { token?: unknown };
    const cookie = guarded.entry.enter(typeof token === 'string' ? token : '');
    if (cookie === undefined)
      return refuse(
        context,
        401,
        'this address has already been used, or is too old',
        'guild ui --link prints a new one',
      );
    const secure = guarded.scheme === 'https';
    setCookie(context, cookieName, cookie, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: COOKIE_SECONDS,
      secure,
    });
    return context.body(null, 204);
  });
  const api = new Hono();
  api.use(entered(guarded));
  api.get('/hello', async (context) => context.json(await hello(guarded.entry.csrf(getCookie(context, cookieName))!)));
  routes(api, served);
  app.route('/api', api);
  app.get('/', async (context) => {
    const csrf = guarded.entry.csrf(getCookie(context, cookieName));
    const nonce = randomBytes(16).toString('base64url');
    context.header('cache-control', 'no-store');
    context.header('content-security-policy', contentPolicy(nonce));
    return context.html(page(assets, title, csrf === undefined ? undefined : await hello(csrf), nonce));
  });
  app.notFound((context) => refuse(context, 404, 'there is no such page'));
  app.onError((thrown, context) => {
    const known = thrown instanceof ProblemError ? thrown.problem : undefined;
    if (thrown instanceof ViewGone) return problemReply(context, 410, thrown.problem);
    if (known !== undefined) return problemReply(context, known.code === 'not_found' ? 404 : 422, known);
    if (thrown instanceof SyntaxError) return problemReply(context, 400, problem('bad_usage', 'that is not JSON'));
    return problemReply(context, 500, problem('bug', thrown.message));
  });
  return app;
}

function asset(context: Context, assets: Assets): Response {
  const accepts = context.req.header('accept-encoding') ?? '';
  const found = assets.read(context.req.param('name') ?? '', /\bbr\b/.test(accepts));
  if (found === undefined) return refuse(context, 404, 'there is no such file');
  const { bytes, type, encoding } = found;
  const headers = {
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  };
  return context.body(
    new Uint8Array(bytes),
    200,
    encoding === undefined ? headers : { ...headers, 'content-encoding': encoding },
  );
}

const tooLarge: NonNullable<Parameters<typeof bodyLimit>[0]['onError']> = (context) =>
  problemReply(context, 413, problem('over_limit', 'the request is larger than 1 MB'));
