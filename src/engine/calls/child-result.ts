/** What a child that has ended says to the conversation that asked for it. */
import { roleFacts } from '../../domain/task/role.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { errorText } from '../../rules/patterns/gather.js';

type ChildAnswer = { text: string } & Pick<Message, 'kind' | 'from'>;

/** JSON text: the model that asked reads it and goes on, also when the child failed. */
export function answerOf({ task, state }: Placed): ChildAnswer {
  const success = state === 'completed';
  const { resultFormat } = roleFacts(task.role);
  if (resultFormat === 'pieces' && success) return { text: task.result ?? '' };
  if (resultFormat === 'resolution') return { text: success ? (task.result ?? '') : unmet(task) };
  return { text: agentResponse(task, success), kind: 'agent_response', from: task.id };
}

function agentResponse(task: Task, success: boolean): string {
  return JSON.stringify({
    agent_name: task.to ?? 'nobody',
    task_type: task.type ?? 'delegation',
    result: task.result ?? '',
    metadata: { task: task.id },
    success,
    error: success ? null : `${errorText(task.error)}; go on without it or do it yourself`,
  });
}

/** A Resolution that failed, and why. */
function unmet({ error }: Task): string {
  return JSON.stringify({
    status: 'failed',
    provider: null,
    data: null,
    next_steps: [error?.hint ?? 'go on without it, or find another way'],
    error: { code: error?.code ?? 'dependency_failed', message: error?.message ?? errorText(error) },
  });
}
