/**
 * Asks a list of models until one answers. Temporary failures (rate limit, no connection, broken
 * stream, garbage) are retried on the same model after 1 s, 2 s, 4 s … or as long as the server
 * asks. Permanent ones (wrong key, no credit, unknown model) go straight to the next model.
 */
import type { ModelTimeouts } from '../../domain/config/config.js';
import type { Clock } from '../../ports/clock.js';
import type { Model, ModelAnswer, ModelFailure, ModelFailureClass, ModelRequest } from '../../ports/model.js';

interface AskModel {
  model: Model;
  /** `provider/model`; at least one. */
  models: readonly string[];
  request: Omit<ModelRequest, 'model'>;
  timeouts: Pick<ModelTimeouts, 'tries'>;
  clock: Pick<Clock, 'sleep'>;
  /** Called before each retry; `waitMs` 0 may mean the next model. Text streamed so far is void. */
  onRetry?: (failure: ModelFailure, model: string, waitMs: number) => void;
}

type Asked =
  | { ok: true; answer: ModelAnswer; model: string; tries: number }
  | { ok: false; failure: ModelFailure; tries: number };

const TEMPORARY: ReadonlySet<ModelFailureClass> = new Set([
  'rate',
  'unreachable',
  'cut_off',
  'garbage',
  'stale_thoughts',
]);
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** A longer wait than this counts as a permanent failure, so that another model can be asked. */
const MAX_ASKED_WAIT_MS = 5 * 60_000;

export async function askModel(options: AskModel): Promise<Asked> {
  const { model, models, request, clock } = options;
  const failures: { model: string; failure: ModelFailure }[] = [];
  let tries = 0;
  for (const [at, name] of models.entries()) {
    for (let attempt = 1; ; attempt++) {
      tries++;
      const reply = await model.call({ ...request, model: name });
      if (reply.ok) return { ok: true, answer: reply.answer, model: name, tries };
      const { failure } = reply;
      if (failure.class === 'aborted' || request.signal?.aborted)
        return { ok: false, failure: aborted(failure), tries };
      const waitMs = attempt < options.timeouts.tries ? waitAfter(failure, attempt) : undefined;
      if (waitMs === undefined) {
        failures.push({ model: name, failure });
        if (at + 1 < models.length) options.onRetry?.(failure, name, 0);
        break;
      }
      options.onRetry?.(failure, name, waitMs);
      await clock.sleep(waitMs, request.signal);
      if (request.signal?.aborted) return { ok: false, failure: aborted(failure), tries };
    }
  }
  return { ok: false, failure: combined(failures), tries };
}

/** Undefined: a retry will not help. */
function waitAfter(failure: ModelFailure, attempt: number): number | undefined {
  if (!TEMPORARY.has(failure.class)) return undefined;
  // The next attempt leaves the thoughts out.
  if (failure.class === 'stale_thoughts') return 0;
  const asked = failure.retryAfterMs;
  if (asked !== undefined) return asked > MAX_ASKED_WAIT_MS ? undefined : asked;
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

function aborted(failure: ModelFailure): ModelFailure {
  return failure.class === 'aborted'
    ? failure
    : { class: 'aborted', message: `stopped while waiting after: ${failure.message}` };
}

/** All failures in one. A temporary class wins: it shows that a later retry may help. */
function combined(failures: { model: string; failure: ModelFailure }[]): ModelFailure {
  if (failures.length === 0) return { class: 'unknown_model', message: 'no model was named' };
  if (failures.length === 1) return failures[0]!.failure;
  const temporary = failures.find(({ failure }) => TEMPORARY.has(failure.class)) ?? failures[0]!;
  return {
    ...temporary.failure,
    message: failures.map(({ model, failure }) => `${model}: ${failure.message}`).join('\n'),
  };
}
