/**
 * Models that cannot be used at the moment: the provider rejects the key, has no credit for it, or
 * cannot be reached. A task that needs such a model would only fail, so none is begun for a while.
 * Then one task at a time tries the model again.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { ModelFailureClass } from '../../domain/session/model-failure.js';
import type { Clock } from '../../ports/clock.js';
import type { ModelFailure } from '../../ports/model.js';

export interface Outages {
  /** A call failed on each of these models, after all retries. */
  failed(models: readonly string[], failure: ModelFailure): void;
  answered(model: string): void;
  /**
   * When a task that needs one of these models may try again, in milliseconds since 1970. A time
   * that has passed: one task may try. Undefined: at least one model is not known to be out.
   */
  until(models: readonly string[]): number | undefined;
}

/** The failures that other tasks would meet, too. The first two last until a person acts. */
const PERIODS: Partial<Record<ModelFailureClass, number>> = {
  auth: INTERVALS.refusedModelMs,
  quota: INTERVALS.refusedModelMs,
  unreachable: INTERVALS.awayModelMs,
};

/** `report` is called once for each outage. */
export function outages(clock: Pick<Clock, 'now'>, report: (problem: Problem) => void): Outages {
  const ends = new Map<string, number>();
  return {
    failed(models, failure) {
      const periodMs = PERIODS[failure.class];
      if (periodMs === undefined) return;
      const isNew = !models.every((model) => ends.has(model));
      for (const model of models) ends.set(model, clock.now().getTime() + periodMs);
      if (!isNew) return;
      const minutes = periodMs / 60_000;
      report(
        problem('model_failed', `${failure.message}; other tasks that need ${models.join(', ')} wait here`, {
          hint: `one of them tries again ${minutes === 1 ? 'every minute' : `every ${minutes} minutes`}, or all when you start again`,
        }),
      );
    },
    answered: (model) => void ends.delete(model),
    until(models) {
      const known = ends.size === 0 ? [] : models.flatMap((model) => ends.get(model) ?? []);
      return known.length > 0 && known.length === models.length ? Math.min(...known) : undefined;
    },
  };
}
