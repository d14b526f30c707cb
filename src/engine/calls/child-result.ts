/** The result of an ended child as the asking conversation gets it. */
import { approvalOf } from '../../domain/task/approval.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { errorText } from '../../rules/patterns/gather.js';

type ChildAnswer = { text: string; isError: boolean } & Pick<Message, 'kind' | 'from' | 'code'>;

/**
 * JSON that lets the asking model continue even if the child failed. An approval is refused here:
 * it permits an action and is never the answer to a request.
 */
export function childResult({ task, state }: Placed): ChildAnswer {
  const success = state === 'completed';
  const isError = !success;
  const { resultFormat, isApproval } = roleFacts(task.role);
  if (isApproval) return { text: `bug: ${task.id} is an approval, so nothing was done`, isError: true, code: 'bug' };
  if (resultFormat === 'pieces' && success) return { text: task.result ?? '', isError };
  if (resultFormat === 'resolution') return { text: success ? (task.result ?? '') : unmet(task), isError };
  if (resultFormat === 'answer') return answerText(task, success);
  return { text: agentResponse(task, success), isError, kind: 'agent_response', from: task.id };
}

/** The human's words. Declining to answer is not an answer. */
function answerText(task: Task, success: boolean): ChildAnswer {
  const answer = success ? approvalOf(task)?.answer : undefined;
  if (answer?.approved === true && answer.text !== undefined) return { text: answer.text, isError: false };
  const why = success ? (answer?.reason ?? '') : errorText(task.error);
  const text = `the human did not answer${why === '' ? '' : `: ${why}`}; do not ask the same again, continue with what you know`;
  return { text, isError: true, code: 'not_allowed' };
}

function agentResponse(task: Task, success: boolean): string {
  return JSON.stringify({
    agent_name: task.to ?? 'nobody',
    task_type: task.type ?? 'general',
    result: task.result ?? '',
    metadata: { task: task.id },
    success,
    error: success ? null : `${errorText(task.error)}; continue without it or do it yourself`,
  });
}

/** A failed resolution with its reason. */
function unmet({ error }: Task): string {
  return JSON.stringify({
    status: 'failed',
    provider: null,
    data: null,
    next_steps: [error?.hint ?? 'continue without it, or find another way'],
    error: { code: error?.code ?? 'dependency_failed', message: error?.message ?? errorText(error) },
  });
}
