/**
 * The checks that every request must pass before any of it is read: the right host, the same
 * origin, a cookie of this process, and its CSRF token. Nothing here depends on the route.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { problem, type Problem } from '../domain/problem.js';
import { isSame, type Entry } from './entry.js';

export interface Guarded {
  entry: Entry;
  cookieName: string;
  /** `host:port` names under which this server answers. */
  hosts: Set<string>;
  scheme: 'http' | 'https';
}

const REQUESTS_PER_SECOND = 200;

const CSRF_HEADER = 'x-guild-csrf';

/**
 * Against DNS rebinding and other sites: checked first, for every route. No CORS header is ever
 * sent.
 */
export function sameSite(guarded: Guarded): MiddlewareHandler {
  return async (context, next) => {
    // Known only when the server listens.
    const { hosts, scheme } = guarded;
    const host = context.req.header('host') ?? '';
    if (!hosts.has(host)) return refuse(context, 421, 'this server does not answer under that name');
    const origin = context.req.header('origin');
    if (origin !== undefined && origin !== `${scheme}://${host}`) return refuse(context, 403, 'another origin asked');
    const site = context.req.header('sec-fetch-site');
    const isPage = context.req.method === 'GET' && !context.req.path.startsWith('/api/');
    if (site !== undefined && site !== 'same-origin' && !(site === 'none' && isPage))
      return refuse(context, 403, 'another site asked');
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    if (context.res.headers.get('content-security-policy') === null)
      context.header('content-security-policy', contentPolicy());
    if (context.req.path.startsWith('/api/')) context.header('cache-control', 'no-store');
  };
}

/** Guards every route of the API except `enter`. */
export function entered({ entry, cookieName }: Guarded): MiddlewareHandler {
  return async (context, next) => {
    const csrf = entry.csrf(getCookie(context, cookieName));
    if (csrf === undefined)
      return refuse(context, 401, 'this browser is not signed in', 'open the address that guild ui --link prints');
    if (!isSame(csrf, context.req.header(CSRF_HEADER) ?? '')) return refuse(context, 403, 'the CSRF token is missing');
    await next();
  };
}

/** A page that asks in a loop gets 429 instead of the processor. Each browser has its own count. */
export function limitRate(cookieName = 'none'): MiddlewareHandler {
  let second = 0;
  let counts = new Map<string, number>();
  return async (context, next) => {
    const at = Math.floor(Date.now() / 1000);
    if (at !== second) counts = new Map();
    second = at;
    const who = getCookie(context, cookieName) ?? '';
    const count = (counts.get(who) ?? 0) + 1;
    counts.set(who, count);
    if (count > REQUESTS_PER_SECOND) return refuse(context, 429, 'too many requests');
    await next();
  };
}

export function refuse(
  context: Context,
  status: 401 | 403 | 404 | 421 | 429,
  message: string,
  hint?: string,
): Response {
  return problemReply(context, status, problem('not_allowed', message, hint === undefined ? {} : { hint }));
}

export function problemReply(context: Context, status: number, value: Problem, more: object = {}): Response {
  return context.json({ problem: value, ...more }, status as 400);
}

/**
 * No inline code, nothing from elsewhere, and no HTML from strings. The editor creates styles, so
 * it gets the nonce of the page. The only Trusted Types policy admits the worker.
 */
export function contentPolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types guild',
  ].join('; ');
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
