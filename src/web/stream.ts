/**
 * Server-sent events: `changed` when something in the workspace may have changed, and a beat that
 * shows that the connection is alive. Losing any of them costs time, never truth: the page reads
 * again after every reconnect.
 */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { INTERVALS } from '../domain/intervals.js';
import type { Feed } from './base/feed.js';
import type { Live } from './base/live.js';
import { refuse } from './guard.js';

/** One browser has one stream, however many tabs it has (ADR 0119). */
const STREAMS_MAX = 64;
/** A reader that is this far behind is disconnected. */
const UNREAD_MAX = 1024 * 1024;

/** `live`: absent for guests, because words are not checked for secrets while they come. */
export function streams(
  feed: Feed,
  live: Live | undefined,
  onOpen: () => void = () => undefined,
): (context: Context) => Response {
  let open = 0;
  return (context) => {
    if (open >= STREAMS_MAX) return refuse(context, 429, `${STREAMS_MAX} windows are open already`);
    open++;
    onOpen();
    return streamSSE(context, async (stream) => {
      const ended = new Promise<void>((resolve) => stream.onAbort(resolve));
      let unread = 0;
      const send = (event: string, data: object): void => {
        const text = JSON.stringify(data);
        unread += text.length;
        // It reads everything again after it reconnects, so nothing is kept for it.
        if (unread > UNREAD_MAX) {
          stream.abort();
          return;
        }
        const done = (): void => void (unread -= text.length);
        stream.writeSSE({ event, data: text }).then(done, done);
      };
      const off = feed.onChange((version) => send('changed', { version }));
      const offLive = live?.onChange((changed) => send('turns', changed));
      const beat = (): void =>
        send('beat', { now: new Date().toISOString(), boot: feed.boot, version: feed.version() });
      const timer = setInterval(beat, INTERVALS.windowBeatMs);
      beat();
      send('turns', { turns: live?.turns() ?? [], ended: [] });
      await ended;
      clearInterval(timer);
      off();
      offLive?.();
      open--;
    });
  };
}
