/**
 * The endpoints of a workspace for other programs: `POST /hooks/<source>` and `GET /health`. They
 * are part of every server of this program and come before its guards for browsers, because
 * programs have no cookies. A browser never gets through: it sends an origin.
 */
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { attempt } from '../domain/attempt.js';
import type { Webhooks } from '../app/doors/webhooks.js';
import { defined } from '../domain/defined.js';
import { problem } from '../domain/problem.js';
import { limitRate, problemReply, refuse } from './guard.js';
import { lineOf } from './hook-message.js';
import { proofOf } from './hook-proof.js';

/** A message in the inbox has at most this many bytes. */
const MAX_BODY = 256 * 1024;
/** Longer ids are refused by the reader of the inbox, too. */
const MAX_ID = 200;

interface Doors {
  webhooks: Webhooks;
  /** `host` or `host:port` names under which these endpoints answer. */
  hosts: ReadonlySet<string>;
  now?: () => Date;
}

export function hookRoutes({ webhooks, hosts, now = () => new Date() }: Doors): Hono {
  const app = new Hono();
  app.use('/hooks/*', limitRate(), onlyPrograms(hosts), bodyLimit({ maxSize: MAX_BODY, onError: tooLarge }));
  app.use('/health', limitRate(), onlyPrograms(hosts));
  app.get('/health', async (context) => context.json({ ok: true, working: await webhooks.isWorkedOn() }));
  app.post('/hooks/:source', async (context) => {
    const source = context.req.param('source');
    const hook = webhooks.source(source);
    // Callers must not learn which sources exist: an unknown one is refused like a wrong signature.
    if (hook === undefined) return unproven(context, webhooks, 'unknown', 'there is no such source');
    if (hook.isHeld) return unproven(context, webhooks, source, 'it is not trusted yet (guild trust)');
    if (hook.secret === undefined) return unproven(context, webhooks, source, `${hook.secretEnv} is not set here`);
    const body = new Uint8Array(await context.req.arrayBuffer());
    const header = (name: string): string | undefined => context.req.header(name);
    const proof = proofOf(hook.kind, hook.secret, { header, body, now: now() });
    if (!proof.ok) return unproven(context, webhooks, source, proof.why);
    const text = utf8(body);
    if (text === undefined || text.trim() === '')
      return problemReply(context, 400, problem('bad_usage', 'the body is not text'));
    if (proof.id.length > MAX_ID)
      return problemReply(context, 400, problem('over_limit', `the id of a message has at most ${MAX_ID} characters`));
    const event = header('x-github-event') ?? header('x-event-type');
    const line = lineOf(defined({ id: proof.id, body: text, at: now(), event, agent: hook.agent }));
    if (Buffer.byteLength(JSON.stringify(line)) > MAX_BODY) return tooLarge(context);
    const outcome = await webhooks.accept(source, proof.id, line);
    return context.json({ outcome }, outcome === 'accepted' ? 202 : 200);
  });
  app.onError((thrown, context) => {
    webhooks.refused('unknown', thrown.message);
    return problemReply(context, 500, problem('disk_failed', 'the message could not be kept; send it again'));
  });
  app.all('/hooks/*', (context) => refuse(context, 404, 'a webhook is a POST to /hooks/<source>'));
  return app;
}

/** Accepts only the right host name, and no browser. No CORS header is ever sent. */
function onlyPrograms(hosts: ReadonlySet<string>): MiddlewareHandler {
  return async (context, next) => {
    if (!hosts.has(context.req.header('host') ?? ''))
      return refuse(context, 421, 'this server does not answer under that name');
    const isBrowser = ['origin', 'sec-fetch-site', 'cookie'].some((name) => context.req.header(name) !== undefined);
    if (isBrowser) return refuse(context, 403, 'this address is for programs, not for browsers');
    await next();
    context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
  };
}

/** Every refusal looks the same to the caller; the person sees the reason. */
function unproven(context: Context, webhooks: Webhooks, source: string, why: string): Response {
  webhooks.refused(source, why);
  return refuse(context, 401, 'the call has no valid proof of its source');
}

function tooLarge(context: Context): Response {
  return problemReply(context, 413, problem('over_limit', `a message has at most ${MAX_BODY / 1024} kB`));
}

function utf8(body: Uint8Array): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(body));
}
