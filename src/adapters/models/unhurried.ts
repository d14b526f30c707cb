/**
 * A model that takes its time, for people who watch: it thinks for a moment, and then its words
 * come one by one. The answer comes from the real model behind it.
 */
import type { Clock } from '../../ports/clock.js';
import type { Model } from '../../ports/model.js';

/** Words come no slower than this, so that short answers do not crawl. */
const WORD_MAX_MS = 120;

/** Without `turnMs`, or with 0, the model itself. */
export function unhurried(model: Model, turnMs: number | undefined, clock: Pick<Clock, 'sleep'>): Model {
  if (!turnMs) return model;
  return {
    async call(request) {
      const words: string[] = [];
      const reply = await model.call({ ...request, onText: (text) => void words.push(text) });
      await clock.sleep(turnMs / 2, request.signal);
      const wordMs = Math.min(WORD_MAX_MS, turnMs / 2 / Math.max(1, words.length));
      for (const word of words) {
        if (request.signal?.aborted) break;
        request.onText?.(word);
        await clock.sleep(wordMs, request.signal);
      }
      return reply;
    },
  };
}
