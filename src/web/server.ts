/**
 * `guild ui`: one HTTP server on this machine that shows a workspace and submits intents. It keeps
 * no state of its own: stop it, and nothing is lost.
 */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { problem, ProblemError } from '../domain/problem.js';
import { openWebhooks } from '../app/doors/webhooks.js';
import { openAssets } from './assets.js';
import type { Hello } from './base/contract.js';
import { entry } from './entry.js';
import { openFeed } from './base/feed.js';
import { entered, limitRate, problemReply, refuse, sameSite, type Guarded } from './guard.js';
import { openLog } from './base/log.js';
import { page } from './page.js';
import { hookRoutes } from './hooks.js';
import { loopbackNames } from './serve-hooks.js';
import { helloOf, routes, type Served } from './routes.js';

export interface ServerOptions {
  root: string;
  env: Record<string, string | undefined>;
  /** 0: a free one. */
  port: number;
  readOnly: boolean;
  /** The name in the address; default: a random name that only this machine resolves. */
  hostName?: string;
  /** What works here as a child of this server, for the page to show. */
  worker?: () => Hello['worker'];
}

export interface WindowServer {
  /** An address that opens the window once, within a minute. */
  link(): string;
  port: number;
  close(): Promise<void>;
}

const BODY_MAX = 1024 * 1024;

export async function startServer(options: ServerOptions): Promise<WindowServer> {
  const { root, env, readOnly } = options;
  const assets = openAssets();
  const feed = await openFeed(root, env);
  const served: Served = { root, env, feed, log: openLog(root), readOnly };
  // A name of its own: cookies ignore ports, so another server on this machine would get ours.
  const hostName = options.hostName ?? `g-${randomBytes(4).toString('hex')}.localhost`;
  const hosts = new Set<string>();
  const doors = new Set<string>();
  const webhooks = readOnly ? undefined : openWebhooks(root, env, () => undefined);
  const cookieName = `guild_${createHash('sha256').update(path.resolve(root)).digest('hex').slice(0, 12)}`;
  const guarded: Guarded = { entry: entry(), cookieName, hosts, scheme: 'http' };
  const hello = (csrf: string): Promise<Hello> =>
    helloOf(served, {
      boot: feed.boot,
      assets: assets.id,
      workspace: { name: path.basename(path.resolve(root)), path: path.resolve(root) },
      readOnly,
      csrf,
      worker: options.worker?.() ?? null,
    });

  const app = new Hono();
  if (webhooks !== undefined) app.route('/', hookRoutes({ webhooks, hosts: doors }));
  app.use(limitRate(), sameSite(guarded), bodyLimit({ maxSize: BODY_MAX, onError: tooLarge }));
  app.get('/assets/:name', (context) => {
    const accepts = context.req.header('accept-encoding') ?? '';
    const found = assets.read(context.req.param('name'), /\bbr\b/.test(accepts));
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
  });
  app.post('/api/enter', async (context) => {
    const { token } = (await context.req.json()) as { token?: unknown };
    const cookie = guarded.entry.enter(typeof token === 'string' ? token : '');
    if (cookie === undefined)
      return refuse(context, 401, 'this address was used already, or is too old', 'guild ui --link prints a new one');
    setCookie(context, cookieName, cookie, { httpOnly: true, sameSite: 'Strict', path: '/' });
    return context.body(null, 204);
  });
  const api = new Hono();
  api.use(entered(guarded));
  api.get('/hello', async (context) => context.json(await hello(guarded.entry.csrf(getCookie(context, cookieName))!)));
  routes(api, served);
  app.route('/api', api);
  app.get('/', async (context) => {
    const csrf = guarded.entry.csrf(getCookie(context, cookieName));
    const name = path.basename(path.resolve(root));
    context.header('cache-control', 'no-store');
    return context.html(page(assets, `${name} · Guildhall`, csrf === undefined ? undefined : await hello(csrf)));
  });
  app.notFound((context) => refuse(context, 404, 'there is no such page'));
  app.onError((thrown, context) => {
    const known = thrown instanceof ProblemError ? thrown.problem : undefined;
    if (known !== undefined) return problemReply(context, known.code === 'not_found' ? 404 : 422, known);
    if (thrown instanceof SyntaxError) return problemReply(context, 400, problem('bad_usage', 'that is not JSON'));
    return problemReply(context, 500, problem('bug', thrown.message));
  });

  const { server, port } = await listening(app, options.port);
  hosts.add(`${hostName}:${port}`);
  for (const name of loopbackNames(port)) doors.add(name);
  return {
    port,
    link: () => `http://${hostName}:${port}/#t=${guarded.entry.token()}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await webhooks?.close();
      await feed.close();
    },
  };
}

const tooLarge: NonNullable<Parameters<typeof bodyLimit>[0]['onError']> = (context) =>
  problemReply(context, 413, problem('over_limit', 'the request is larger than 1 MB'));

interface Listening {
  server: import('node:http').Server;
  port: number;
}

function listening(app: Hono, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) =>
      resolve({ server, port: info.port }),
    ) as import('node:http').Server;
    server.once('error', (thrown: NodeJS.ErrnoException) =>
      reject(
        thrown.code === 'EADDRINUSE'
          ? new ProblemError(problem('bad_usage', `port ${port} is in use`, { hint: 'choose another with --port' }))
          : thrown,
      ),
    );
  });
}
