/** What a child that has ended says to the conversation that asked for it. */
import type { Placed } from '../domain/task.js';
import { errorText } from '../rules/gather.js';

/** An AgentResponse, as JSON text: the model that asked reads it and goes on, also when it failed. */
export function answerOf({ task, state }: Placed): string {
  if (task.role === 'breakdown' && state === 'completed') return task.result ?? '';
  const success = state === 'completed';
  return JSON.stringify({
    agent_name: task.to ?? 'nobody',
    task_type: task.type ?? 'delegation',
    result: task.result ?? '',
    metadata: { task: task.id },
    success,
    error: success ? null : `${errorText(task.error)}; go on without it or do it yourself`,
  });
}
