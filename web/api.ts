/**
 * Reads and intents. A read is a signal that is fetched again whenever the server says that
 * something changed; the server answers 304 where nothing did. The stream is only a hint.
 */
import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AgentChecked, Conflict, Hello, IntentDone, IntentKind } from '../src/web/base/contract.ts';
import type { Problem } from '../src/domain/problem.ts';
import { momentIso } from './moment.ts';
import { setServerTime, visible } from './text.ts';

export interface Read<T> {
  data: Signal<T | undefined>;
  problem: Signal<Problem | undefined>;
}

interface Mounted extends Read<unknown> {
  etag: string;
  uses: number;
  running: boolean;
  again: boolean;
}

export const hello = signal<Hello | undefined>(undefined);
/** The connection to the server. Without it, pages show what they have, and nothing can be sent. */
export const connection = signal<{ live: true } | { live: false; since: number; retryAt: number }>({ live: true });
/** The cookie of this browser is no longer valid. */
export const isOut = signal(false);
/** The server has another build of this page. */
export const isOutdated = signal(false);

const mounted = new Map<string, Mounted>();
let generation = 0;
let answers: ReadonlyMap<string, unknown> | undefined;
/** The cursor of the stream up to which the screen is current; empty: unknown. */
let readUpTo = '';

export function cursor(): string {
  return readUpTo;
}

/** Drops the answers of earlier requests: the server may be a different one. */
export function startGeneration(): void {
  generation++;
}

export function isExported(): boolean {
  return answers !== undefined;
}

/** An exported run contains its answers, so nothing is requested. */
export function answerFrom(known: ReadonlyMap<string, unknown>): void {
  answers = known;
}

/**
 * The answer of a route, kept up to date while a component uses it. While the pages show the past,
 * the answer is from that moment, unless `isTimeless`. Without a route nothing is asked.
 */
export function useRead<T>(route: string | undefined, isTimeless = false): Read<T> {
  const at = isTimeless ? undefined : momentIso.value;
  const path = route === undefined || at === undefined ? route : `${route}${route.includes('?') ? '&' : '?'}at=${at}`;
  const read = path === undefined ? NOTHING : (mounted.get(path) ?? mount(path, route!));
  useEffect(() => {
    if (path === undefined || route === undefined) return undefined;
    read.uses++;
    mounted.set(path, read);
    void refresh(path, read);
    return () => {
      if (--read.uses === 0) setTimeout(() => read.uses === 0 && forget(path, route, read), KEPT_MS);
    };
  }, [path]);
  return read as Read<T>;
}

const NOTHING: Mounted = newRead(signal(undefined));

function forget(path: string, route: string, read: Mounted): void {
  mounted.delete(path);
  if (last.get(route) === read) last.delete(route);
}

/** An answer stays this long after its page was left, so that going back shows it at once. */
const KEPT_MS = 30_000;

/** The last answer of a route at any moment: it stays on the screen until the next one is there. */
const last = new Map<string, Mounted>();

function mount(path: string, route: string): Mounted {
  const read = newRead(signal(last.get(route)?.data.peek()));
  mounted.set(path, read);
  last.set(route, read);
  return read;
}

function newRead(data: Mounted['data']): Mounted {
  return { data, problem: signal(undefined), etag: '', uses: 0, running: false, again: false };
}

async function refresh(path: string, read: Mounted): Promise<void> {
  if (answers !== undefined) {
    read.data.value = answers.get(path);
    if (read.data.value === undefined) read.problem.value = { code: 'not_found', message: 'this was not exported' };
    return;
  }
  if (read.running) {
    read.again = true;
    return;
  }
  read.running = true;
  const asked = generation;
  try {
    const reply = await call(path, read.etag === '' ? {} : { 'if-none-match': read.etag });
    if (asked !== generation) read.again = true;
    else if (reply.status === 429) missed();
    else if (reply.status !== 304) await take(read, reply);
  } catch {
    missed();
  } finally {
    read.running = false;
  }
  if (!read.again) return;
  read.again = false;
  await refresh(path, read);
}

async function take(read: Mounted, reply: Response): Promise<void> {
  const body: unknown = await reply.json();
  if (!reply.ok) {
    read.problem.value = (body as { problem: Problem }).problem;
    return;
  }
  read.etag = reply.headers.get('etag') ?? '';
  read.problem.value = undefined;
  read.data.value = body;
}

/**
 * A read failed. The old data stays; the next frame of the stream, or the next beat, reads again.
 */
function missed(): void {
  readUpTo = '';
}

/**
 * Reads everything on the screen again, unless it is already known. Mostly the server answers 304.
 * A hidden page reads only the counts in its title until it is seen again.
 */
export function readTo(next: string): void {
  if (next === readUpTo) return;
  if (document.visibilityState === 'visible') {
    readUpTo = next;
    for (const [path, read] of mounted) if (read.uses > 0) void refresh(path, read);
  }
  void refreshHello();
}

/** Reads this again, though nothing has changed. */
export function readAgain(path: string): void {
  const read = mounted.get(path);
  if (read === undefined) return;
  read.problem.value = undefined;
  void refresh(path, read);
}

/** The first answer is inside the page. */
export function startFrom(first: Hello): void {
  readUpTo = first.cursor;
  takeHello(first);
}

function takeHello(next: Hello): void {
  setServerTime(next.now);
  hello.value = next;
  const { requests } = next.counts;
  document.title = `${requests === 0 ? '' : `(${requests}) `}${visible(next.workspace.name)} · Guildhall`;
}

export async function refreshHello(): Promise<void> {
  try {
    const reply = await call('/api/hello', {});
    isOut.value = reply.status === 401;
    if (!reply.ok) return;
    const next = (await reply.json()) as Hello;
    if (next.assets !== hello.value?.assets) isOutdated.value = true;
    takeHello(next);
  } catch {
    missed();
  }
}

export function call(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  const csrf = hello.value?.csrf ?? '';
  return fetch(path, { ...init, headers: { 'x-guild-csrf': csrf, ...headers }, credentials: 'same-origin' });
}

export type Sent = { ok: true; made?: IntentDone['made'] } | ({ ok: false } & Conflict);

/** Submits an intent. `seen` is what was on the screen. */
export async function send(
  kind: IntentKind,
  target: string,
  args: Record<string, unknown> = {},
  seen?: string,
): Promise<Sent> {
  // Nothing is kept for later: the person decides again when the server is back.
  if (!connection.value.live) return { ok: false, problem: { code: 'tool_failed', message: LOST } };
  const key = newKey();
  const body = JSON.stringify({ key, kind, target, args, seen });
  try {
    const reply = await call('/api/intents', { 'content-type': 'application/json' }, { method: 'POST', body });
    const answer: unknown = await reply.json();
    if (reply.ok) return { ok: true, made: (answer as IntentDone).made };
    return { ok: false, ...(answer as Conflict) };
  } catch {
    return { ok: false, problem: { code: 'tool_failed', message: LOST } };
  }
}

const LOST = 'the server does not answer; nothing was sent';

/** `randomUUID` exists only where the connection is secure. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** An answer that is not kept up to date; undefined without a connection. */
export async function readOnce<T>(path: string): Promise<T | undefined> {
  try {
    const reply = await call(path, {});
    return reply.ok ? ((await reply.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks with a body. Throws without a connection. */
export async function post<T>(path: string, body: object): Promise<T | { problem: Problem }> {
  const headers = { 'content-type': 'application/json' };
  const reply = await call(path, headers, { method: 'POST', body: JSON.stringify(body) });
  return (await reply.json()) as T | { problem: Problem };
}

export async function checkAgent(file: string, text: string): Promise<AgentChecked> {
  return (await post<AgentChecked>('/api/agents/check', { file, text })) as AgentChecked;
}

/** Exchanges the token of the address for a cookie. */
export async function enter(token: string): Promise<boolean> {
  const reply = await fetch('/api/enter', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return reply.ok;
}
