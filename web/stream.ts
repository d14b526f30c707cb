/**
 * The stream of the server, read once per browser. It signals when to read again, and carries the
 * words of running turns. After a lost connection this page sends the cursor up to which it has
 * read, and the server replies whether anything was missed.
 */
import type { TurnsChanged } from '../src/web/base/contract.ts';
import { call, connection, cursor, readTo, refreshHello, startGeneration } from './api.ts';
import { readTurns, takeTurns } from './turns.ts';
import { setServerTime } from './text.ts';

const BEAT_LIMIT_MS = 25_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 8000;
const CHANNEL = 'guild-stream';

type Heard =
  | { event: 'opened' }
  | { event: 'changed' | 'reset'; cursor: string }
  | { event: 'beat'; cursor: string; now: string }
  | { event: 'lost'; retryMs: number }
  | { event: 'again' }
  | { event: 'turns'; changed: TurnsChanged };

/** When the last frame came, from whichever tab. */
let heardAt = Date.now();
/** The newest cursor that the server named. */
let newest: string | undefined;
let interrupt: (() => void) | undefined;

/**
 * The tab that holds the lock reads the stream and shares it. When that tab closes, the next one
 * takes over.
 */
export function follow(): void {
  const channel = new BroadcastChannel(CHANNEL);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  const share = (heard: Heard): void => (hear(heard), channel.postMessage(heard));
  channel.addEventListener('message', ({ data }) => hear(data as Heard));
  void navigator.locks.request(CHANNEL, () => readForEver(share));
  void readTurns();
  addEventListener('online', () => share({ event: 'again' }));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return;
    if (Date.now() - heardAt > BEAT_LIMIT_MS) share({ event: 'again' });
    else if (newest !== undefined) readTo(newest);
  });
}

function hear(heard: Heard): void {
  if (heard.event === 'again') return interrupt?.();
  if (heard.event === 'lost') {
    const { value } = connection;
    const since = value.live ? Date.now() : value.since;
    connection.value = { live: false, since, retryAt: Date.now() + heard.retryMs };
    return undefined;
  }
  heardAt = Date.now();
  if (heard.event === 'turns') return takeTurns(heard.changed);
  connection.value = { live: true };
  if (heard.event === 'opened') return undefined;
  if (heard.event === 'beat') setServerTime(heard.now);
  if (heard.event === 'reset') startGeneration();
  newest = heard.cursor;
  return readTo(newest);
}

async function readForEver(share: (heard: Heard) => void): Promise<never> {
  for (let tries = 0; ;) {
    try {
      await readStream((heard) => ((tries = 0), share(heard)));
    } catch {
      // reported below
    }
    const retryMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** tries++) * (0.75 + Math.random() / 2);
    share({ event: 'lost', retryMs });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, retryMs);
      interrupt = () => (clearTimeout(timer), resolve());
    });
  }
}

/** Until the connection ends, or no frame came for longer than two beats. */
async function readStream(share: (heard: Heard) => void): Promise<void> {
  const stop = new AbortController();
  interrupt = () => stop.abort();
  let timer = setTimeout(interrupt, BEAT_LIMIT_MS);
  try {
    const reply = await call(`/api/stream?since=${encodeURIComponent(cursor())}`, {}, { signal: stop.signal });
    if (!reply.ok || reply.body === null) {
      if (reply.status === 401) void refreshHello();
      throw new Error(`the stream answered ${reply.status}`);
    }
    share({ event: 'opened' });
    let text = '';
    for (const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(interrupt, BEAT_LIMIT_MS);
      const frames = (text + value).split('\n\n');
      text = frames.pop()!;
      for (const frame of frames) shareFrame(frame, share);
    }
  } finally {
    clearTimeout(timer);
  }
}

function shareFrame(frame: string, share: (heard: Heard) => void): void {
  const event = /^event: (\w+)$/m.exec(frame)?.[1];
  const data = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}') as Record<string, string>;
  if (event === 'changed' || event === 'reset') share({ event, cursor: data['cursor']! });
  if (event === 'turns') share({ event, changed: data as unknown as TurnsChanged });
  if (event === 'beat') share({ event, cursor: data['cursor']!, now: data['now']! });
}
