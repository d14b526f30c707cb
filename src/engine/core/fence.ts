/**
 * Runs one step of a pass for one thing: a kind of input, an intent, a message. An error of the
 * step is reported once and skips only that thing. A fault of the store is not caught, because
 * nothing can be decided without the store.
 */
import { isStoreFault } from '../../domain/fence.js';
import { asProblem, problem, type Problem } from '../../domain/problem.js';
import { record, type EngineContext } from './context.js';

type Fences = Pick<EngineContext, 'clock' | 'presence' | 'events' | 'watchers' | 'faults'>;

/** `what` names the thing for a person: `the intent x`, `tasks/a.task.md:3`. */
export async function fence<T>(context: Fences, what: string, step: () => T | Promise<T>, otherwise: T): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    if (!isContained(thrown)) throw thrown;
    const fault = faultProblem(thrown, `${what} was skipped`);
    if (!context.faults.has(fault.message)) {
      context.faults.add(fault.message);
      context.watchers.problem(fault);
      record(context, 'fault.contained', { problem: fault });
    }
    return otherwise;
  }
}

/** Whether the error concerns only what was being done, and not the store or the whole process. */
export function isContained(thrown: unknown): boolean {
  return thrown instanceof Error && !isStoreFault(thrown);
}

/** The reason, as a person reads it. `meaning`: the consequence for the task or file. */
export function faultProblem(thrown: unknown, meaning: string): Problem {
  const { code, message, where, hint } = asProblem(thrown);
  const isDeep = thrown instanceof RangeError;
  const why = isDeep ? `something in it is too deep or too large (${message})` : message;
  return problem(isDeep ? 'over_limit' : code, `${meaning}: ${why}`, {
    where,
    hint: hint ?? 'nothing else is affected; if it happens again, report it with this message',
  });
}
