/**
 * Tasks as lists and explanations show them. A request has the words that this machine sealed; the
 * words of any other request are not shown, because they could say anything in the program's name.
 */
import { roleFacts } from '../domain/task/role.js';
import type { Placed, Task } from '../domain/task/task.js';

export const NOT_MADE_HERE = 'a request that was not made on this machine';
/** What a person can do about it. */
export const ASKED_AGAIN = 'guild pump asks again, in its own words';

export type InOwnWords = <P extends Placed>(placed: P) => P;

/** `own`: the request in a task; undefined if it was not made on this machine. */
export function inOwnWords(own: (task: Task) => { title: string } | undefined): InOwnWords {
  return (placed) => {
    const { task } = placed;
    if (!isRequest(task)) return placed;
    const request = own(task);
    if (request?.title === task.description) return placed;
    if (request !== undefined) return { ...placed, task: { ...task, description: request.title } };
    const { from: _f, created_by: _c, type: _t, result: _r, error: _e, extra: _x, ...bare } = task;
    return { ...placed, fullResult: undefined, task: { ...bare, description: NOT_MADE_HERE, context: {} } };
  };
}

export function isRequest({ role }: Pick<Task, 'role'>): boolean {
  const { isApproval, isQuestion } = roleFacts(role);
  return isApproval || isQuestion;
}

/** Whether this result of `inOwnWords` is a request that was not made on this machine. */
export function isNotMadeHere({ task }: Pick<Placed, 'task'>): boolean {
  return isRequest(task) && task.context['request'] === undefined;
}
