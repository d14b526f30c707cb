/**
 * Server-sent events: `changed` when something in the workspace may have changed, and a heartbeat.
 * Each names the cursor that a page has after it has read again. A page that reconnects sends its
 * cursor: it is notified only if it missed a change, and gets `reset` if the server does not know
 * the cursor.
 */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { INTERVALS } from '../domain/intervals.js';
import type { TurnsChanged } from './base/contract.js';
import type { Feed } from './base/feed.js';
import type { Live } from './base/live.js';
import { refuse } from './guard.js';

/** One browser has one stream, however many tabs it has (ADR 0119). */
const STREAMS_MAX = 64;
/** A reader that is this far behind is disconnected. */
const UNREAD_MAX = 1024 * 1024;

/** `live`: absent for guests, because words are not checked for secrets as they arrive. */
export function streams(
  feed: Feed,
  live: Live | undefined,
  onOpen: () => void = () => undefined,
): (context: Context) => Response {
  let open = 0;
  return (context) => {
    if (open >= STREAMS_MAX) return refuse(context, 429, `${STREAMS_MAX} windows are already open`);
    open++;
    onOpen();
    const since = context.req.query('since') ?? '';
    return streamSSE(context, async (stream) => {
      const ended = new Promise<void>((resolve) => stream.onAbort(resolve));
      let unread = 0;
      const send = (event: string, data: object): void => {
        const text = JSON.stringify(data);
        unread += text.length;
        // The page sends its cursor when it reconnects, so nothing is kept for it.
        if (unread > UNREAD_MAX) {
          stream.abort();
          return;
        }
        const done = (): void => void (unread -= text.length);
        stream.writeSSE({ event, data: text }).then(done, done);
      };
      const off = feed.onChange(() => send('changed', { cursor: feed.cursor() }));
      const offLive = live?.onChange((changed) => send('turns', changed));
      const beat = (): void => send('beat', { now: new Date().toISOString(), cursor: feed.cursor() });
      const timer = setInterval(beat, INTERVALS.windowBeatMs);
      if (!since.startsWith(`${feed.boot}.`)) send('reset', { cursor: feed.cursor() });
      else if (since !== feed.cursor()) send('changed', { cursor: feed.cursor() });
      beat();
      send('turns', { turns: live?.turns() ?? [], ended: 'others' } satisfies TurnsChanged);
      await ended;
      clearInterval(timer);
      off();
      offLive?.();
      open--;
    });
  };
}
