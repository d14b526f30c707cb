/**
 * The request that a chain of agents answers. Each stage gets its own text around it, so the
 * request itself travels in the context of the stages, and every stage quotes the same words once.
 */
import type { Task } from '../../domain/task/task.js';
import { fence } from './gather.js';

interface FirstRequest {
  text: string;
  from: string;
}

export const FIRST_REQUEST = 'first_request';

export function firstRequest({ context, description, from }: Task): FirstRequest {
  const first = context[FIRST_REQUEST] as Partial<FirstRequest> | undefined;
  if (typeof first?.text === 'string' && typeof first.from === 'string') return { text: first.text, from: first.from };
  return { text: description, from: from ?? 'human' };
}

/**
 * `request`: the task's description, alone or with advice around it. A stage's own text already
 * quotes the request.
 */
export function fencedRequest(task: Task, request = task.description): string {
  if (request !== task.description || task.context[FIRST_REQUEST] !== undefined) return request;
  return fence('original_user_request', task.from ?? 'human', request, task.id);
}
