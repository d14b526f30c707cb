/** The result of an ended child as the asking conversation gets it. */
import { roleFacts } from '../../domain/task/role.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { errorText } from '../../rules/patterns/gather.js';

type ChildAnswer = { text: string; isError: boolean } & Pick<Message, 'kind' | 'from' | 'code'>;

/**
 * JSON that lets the asking model continue even if the child failed. An approval is refused: it
 * permits an action and is never the result of one.
 */
export function childResult({ task, state }: Placed): ChildAnswer {
  const success = state === 'completed';
  const isError = !success;
  const { resultFormat, isApproval } = roleFacts(task.role);
  if (isApproval) return { text: `bug: ${task.id} is an approval, so nothing was done`, isError: true, code: 'bug' };
  if (resultFormat === 'pieces' && success) return { text: task.result ?? '', isError };
  if (resultFormat === 'resolution') return { text: success ? (task.result ?? '') : unmet(task), isError };
  return { text: agentResponse(task, success), isError, kind: 'agent_response', from: task.id };
}

function agentResponse(task: Task, success: boolean): string {
  return JSON.stringify({
    agent_name: task.to ?? 'nobody',
    task_type: task.type ?? 'delegation',
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
