/**
 * Remembers models whose provider refuses every call until a person acts: the key is wrong, or a
 * paid limit is reached. A task that needs such a model would only fail, so none is begun for a
 * while.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { Model, ModelFailureClass } from '../../ports/model.js';

export interface Refusals {
  model: Model;
  /**
   * When the first of these models is tried again, in milliseconds since 1970. Undefined: one of
   * them is not refused.
   */
  refusedUntil(models: () => readonly string[]): number | undefined;
}

const UNTIL_A_PERSON_ACTS: ReadonlySet<ModelFailureClass> = new Set(['auth', 'quota']);

/** `report` is called once for each refusal, not for the calls that were under way. */
export function refusals(model: Model, clock: Pick<Clock, 'now'>, report: (problem: Problem) => void): Refusals {
  const until = new Map<string, number>();
  const endOf = (name: string): number => until.get(name) ?? 0;
  const isRefused = (name: string): boolean => endOf(name) > clock.now().getTime();
  return {
    refusedUntil(models) {
      if (until.size === 0) return undefined;
      const names = models();
      return names.length > 0 && names.every(isRefused) ? Math.min(...names.map(endOf)) : undefined;
    },
    model: {
      async call(request) {
        const reply = await model.call(request);
        if (reply.ok) until.delete(request.model);
        else if (UNTIL_A_PERSON_ACTS.has(reply.failure.class) && !isRefused(request.model)) {
          until.set(request.model, clock.now().getTime() + INTERVALS.refusedModelMs);
          report(
            problem('model_failed', `${reply.failure.message}; other tasks that need ${request.model} wait here`, {
              hint: `fix this and start again; it is tried again every ${INTERVALS.refusedModelMs / 60_000} minutes`,
            }),
          );
        }
        return reply;
      },
    },
  };
}
