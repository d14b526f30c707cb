/**
 * One turn's question, put to a list of models until one answers. What may pass by itself (too many requests, no connection, a
 * broken stream, nonsense) is tried again on the same model after a wait; what will not (a wrong key, no money, no such
 * model) goes straight to the next. Waits are 1 s, 2 s, 4 s … without chance in them; what the server asks for wins.
 */
import type { ModelTimeouts } from '../../domain/config/config.js';
import type { Clock } from '../../ports/clock.js';
import type { Model, ModelAnswer, ModelFailure, ModelFailureClass, ModelRequest } from '../../ports/model.js';

interface AskModel {
  model: Model;
  /** `provider/model` each, at least one. */
  models: readonly string[];
  request: Omit<ModelRequest, 'model'>;
  timeouts: Pick<ModelTimeouts, 'tries'>;
  clock: Pick<Clock, 'sleep'>;
  /** Told before every further try, of `model` after `waitMs` or of the next one at once; text that was streamed before it is void. */
  onRetry?: (failure: ModelFailure, model: string, waitMs: number) => void;
}

type Asked =
  | { ok: true; answer: ModelAnswer; model: string; tries: number }
  | { ok: false; failure: ModelFailure; tries: number };

const MAY_PASS: ReadonlySet<ModelFailureClass> = new Set(['rate', 'unreachable', 'cut_off', 'garbage']);
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** A server that wants more than this is not waited for: the task can be parked, or another model asked. */
const MAX_ASKED_WAIT_MS = 5 * 60_000;

export async function askModel(given: AskModel): Promise<Asked> {
  const { model, models, request, clock } = given;
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
      const waitMs = attempt < given.timeouts.tries ? waitAfter(failure, attempt) : undefined;
      if (waitMs === undefined) {
        failures.push({ model: name, failure });
        if (at + 1 < models.length) given.onRetry?.(failure, name, 0);
        break;
      }
      given.onRetry?.(failure, name, waitMs);
      await clock.sleep(waitMs, request.signal);
      if (request.signal?.aborted) return { ok: false, failure: aborted(failure), tries };
    }
  }
  return { ok: false, failure: summed(failures), tries };
}

/** Undefined: waiting will not help. */
function waitAfter(failure: ModelFailure, attempt: number): number | undefined {
  if (!MAY_PASS.has(failure.class)) return undefined;
  const asked = failure.retryAfterMs;
  if (asked !== undefined) return asked > MAX_ASKED_WAIT_MS ? undefined : asked;
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
}

function aborted(failure: ModelFailure): ModelFailure {
  return failure.class === 'aborted'
    ? failure
    : { class: 'aborted', message: `stopped while waiting after: ${failure.message}` };
}

/** All that went wrong in one failure; its class is the most hopeful one, since it decides whether trying later has sense. */
function summed(failures: { model: string; failure: ModelFailure }[]): ModelFailure {
  if (failures.length === 0) return { class: 'unknown_model', message: 'no model was named' };
  if (failures.length === 1) return failures[0]!.failure;
  const hopeful = failures.find((one) => MAY_PASS.has(one.failure.class)) ?? failures[0]!;
  return { ...hopeful.failure, message: failures.map((one) => `${one.model}: ${one.failure.message}`).join('\n') };
}
