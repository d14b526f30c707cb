/**
 * Ends a task whose own conversation shows that it failed. After a retry, the conversation still
 * ends with the same messages, so the agent first gets a message that asks for another attempt.
 */
import { defined } from '../../../domain/defined.js';
import type { Problem } from '../../../domain/problem.js';
import { controlMessage, type FailStep, type SayStep, type Talk } from './step.js';

/** `said`: the agent's last words; the record keeps them. */
export function failure({ task, messages }: Talk, why: Problem, said?: string): FailStep | SayStep {
  const attempts = messages.filter((message) => message.kind === 'retry').length;
  if ((task.retries ?? 0) <= attempts) return defined({ do: 'fail', problem: why, said });
  const text = `A person asks you to try this task again. The last attempt failed: ${why.message}. Think about what to do differently, then continue.`;
  return { do: 'say', messages: [controlMessage('retry', text)] };
}
