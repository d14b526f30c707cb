/**
 * Reads and intents. A read is a signal that is fetched again whenever the server says that
 * something changed; the server answers 304 where nothing did. The stream is only a hint.
 */
import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AgentChecked, Conflict, Hello, IntentDone, IntentKind } from '../src/web/base/contract.ts';
import type { Problem } from '../src/domain/problem.ts';
import { setServerTime } from './text.ts';

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
/** The connection to the server. Without it reading works from memory, and nothing can be sent. */
export const connection = signal<{ live: true } | { live: false; since: number; retryAt: number }>({ live: true });
/** The server has another build of this page. */
export const isOutdated = signal(false);

const mounted = new Map<string, Mounted>();
let generation = 0;
let answers: ReadonlyMap<string, unknown> | undefined;

/** An exported run has its answers inside; nothing is ever asked. */
export function answerFrom(known: ReadonlyMap<string, unknown>): void {
  answers = known;
}

/** The answer of a route, kept up to date while a component uses it. */
export function useRead<T>(path: string): Read<T> {
  const read = mounted.get(path) ?? mount(path);
  useEffect(() => {
    read.uses++;
    mounted.set(path, read);
    void refresh(path, read);
    return () => {
      if (--read.uses === 0) setTimeout(() => read.uses === 0 && mounted.delete(path), KEPT_MS);
    };
  }, [path]);
  return read as Read<T>;
}

/** An answer stays this long after its page was left, so that going back shows it at once. */
const KEPT_MS = 30_000;

function mount(path: string): Mounted {
  const read = { data: signal(undefined), problem: signal(undefined), etag: '', uses: 0, running: false, again: false };
  mounted.set(path, read);
  return read;
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
    else if (reply.status !== 304) await take(read, reply);
  } catch {
    // The connection is lost. Old data stays, and the stream reconnects.
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

function refreshAll(): void {
  for (const [path, read] of mounted) if (read.uses > 0) void refresh(path, read);
  void refreshHello();
}

async function refreshHello(): Promise<void> {
  try {
    const reply = await call('/api/hello', {});
    if (!reply.ok) return;
    const next = (await reply.json()) as Hello;
    if (hello.value !== undefined && next.assets !== hello.value.assets) isOutdated.value = true;
    setServerTime(next.now);
    hello.value = next;
  } catch {
    // as above
  }
}

function call(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  const csrf = hello.value?.csrf ?? '';
  return fetch(path, { ...init, headers: { 'x-guild-csrf': csrf, ...headers }, credentials: 'same-origin' });
}

export type Sent = { ok: true; made?: IntentDone['made'] } | { ok: false; problem: Problem; theirs?: string };

/** Submits an intent. `seen` is what was on the screen. */
export async function send(
  kind: IntentKind,
  target: string,
  args: Record<string, unknown> = {},
  seen?: string,
): Promise<Sent> {
  const key = crypto.randomUUID();
  const body = JSON.stringify({ key, kind, target, args, seen });
  try {
    const reply = await call('/api/intents', { 'content-type': 'application/json' }, { method: 'POST', body });
    const answer: unknown = await reply.json();
    if (reply.ok) return { ok: true, made: (answer as IntentDone).made };
    const { problem, theirs } = answer as Conflict;
    return { ok: false, problem, ...(theirs === undefined ? {} : { theirs }) };
  } catch {
    return { ok: false, problem: { code: 'tool_failed', message: 'the server does not answer; nothing was sent' } };
  }
}

/** What is wrong with this text as the file of an agent. */
export async function checkAgent(file: string, text: string): Promise<AgentChecked> {
  const headers = { 'content-type': 'application/json' };
  const reply = await call('/api/agents/check', headers, { method: 'POST', body: JSON.stringify({ file, text }) });
  return (await reply.json()) as AgentChecked;
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

const BEAT_LIMIT_MS = 25_000;
const BACKOFF_MAX_MS = 8000;
const CHANNEL = 'guild-stream';

/**
 * One stream per browser: the tab that holds the lock reads it and shares it. When that tab closes,
 * the next one takes over.
 */
export function follow(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', ({ data }) => hear(data as Heard));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  void navigator.locks.request(CHANNEL, () => readForEver((heard) => (hear(heard), channel.postMessage(heard))));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') refreshAll();
  });
}

type Heard = { event: 'changed' } | { event: 'beat'; boot: string; now: string } | { event: 'lost'; retryMs: number };

function hear(heard: Heard): void {
  if (heard.event === 'lost') {
    const { value } = connection;
    connection.value = {
      live: false,
      since: value.live ? Date.now() : value.since,
      retryAt: Date.now() + heard.retryMs,
    };
    return;
  }
  const wasLost = !connection.value.live;
  connection.value = { live: true };
  if (heard.event === 'beat') setServerTime(heard.now);
  const isOther = heard.event === 'beat' && hello.value !== undefined && heard.boot !== hello.value.boot;
  if (wasLost || isOther) generation++;
  if (wasLost || isOther || heard.event === 'changed') refreshAll();
}

async function readForEver(tell: (heard: Heard) => void): Promise<never> {
  for (let tries = 0; ;) {
    try {
      await readStream((heard) => ((tries = 0), tell(heard)));
    } catch {
      // reported below
    }
    const retryMs = Math.min(BACKOFF_MAX_MS, 250 * 2 ** tries++) * (0.75 + Math.random() / 2);
    tell({ event: 'lost', retryMs });
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function readStream(tell: (heard: Heard) => void): Promise<void> {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), BEAT_LIMIT_MS);
  try {
    const reply = await call('/api/stream', {}, { signal: stop.signal });
    if (!reply.ok || reply.body === null) throw new Error(`the stream answered ${reply.status}`);
    let text = '';
    for (const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), BEAT_LIMIT_MS);
      const frames = (text + value).split('\n\n');
      text = frames.pop()!;
      for (const frame of frames) tellFrame(frame, tell);
    }
  } finally {
    clearTimeout(timer);
  }
}

function tellFrame(frame: string, tell: (heard: Heard) => void): void {
  const event = /^event: (\w+)$/m.exec(frame)?.[1];
  const data = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}') as Record<string, string>;
  if (event === 'changed') tell({ event });
  if (event === 'beat') tell({ event, boot: data['boot']!, now: data['now']! });
}
