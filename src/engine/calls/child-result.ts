/** What a child that has ended says to the conversation that asked for it. */
import { DEPENDENCY_ROLE } from '../../domain/coordination/dependency.js';
import { HELP_ROLE } from '../../domain/coordination/help.js';
import type { Placed } from '../../domain/task/task.js';
import { errorText } from '../../rules/patterns/gather.js';

/** An AgentResponse, as JSON text: the model that asked reads it and goes on, also when it failed. */
export function answerOf({ task, state }: Placed): string {
  if (task.role === 'breakdown' && state === 'completed') return task.result ?? '';
  const success = state === 'completed';
  if (task.role === DEPENDENCY_ROLE || task.role === HELP_ROLE) return success ? (task.result ?? '') : unmet(task);
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
function unmet({ error }: Placed['task']): string {
  return JSON.stringify({
    status: 'failed',
    provider: null,
    data: null,
    next_steps: [error?.hint ?? 'go on without it, or find another way'],
    error: { code: error?.code ?? 'dependency_failed', message: error?.message ?? errorText(error) },
  });
}
