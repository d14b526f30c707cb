/**
 * Handoff: the next agent answers, given the upstream answer and the original request. What came
 * before that answer is not repeated, so a prompt does not grow with the length of the chain.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { errorText, fence, continued, originalRequest } from './gather.js';

export function wantedHandoff(task: Task, agent: Agent, upstream: Placed): WantedChild[] {
  if (agent.handoff === undefined) return [];
  const answer = fence('response', upstream.task.to ?? agent.name, upstream.task.result ?? '', task.id);
  const { from, text } = originalRequest(task);
  return [
    {
      id: childId(task.id, `handoff-${agent.handoff}`),
      role: roleFacts(task.role).isMember ? task.role : 'handoff',
      to: agent.handoff,
      ...continued(task, `handoff-${agent.handoff}`),
      description:
        agent.context === 'none'
          ? text
          : [...conversation(task, agent, upstream), answer, fence('original_user_request', from, text, task.id)].join(
              '\n\n',
            ),
    },
  ];
}

/**
 * The conversation behind the answer, in full or as an outline, if the agent's `context` passes it
 * on.
 */
function conversation(task: Task, agent: Agent, { task: { to }, conversation: text }: Placed): string[] {
  if (text === undefined || (agent.context !== 'full' && agent.context !== 'summary')) return [];
  return [fence(agent.context === 'full' ? 'conversation' : 'summary', to ?? agent.name, text, task.id)];
}

/** A failed stage fails the chain at once and names itself. */
export function failedStage(stage: string, failed: Placed): Problem {
  const code = failed.task.error?.code ?? 'dependency_failed';
  return problem(code, `${stage} (${failed.task.to ?? 'nobody'}) failed: ${errorText(failed.task.error)}`);
}
