/** Handoff: the next agent answers, given the upstream answer and the original request. */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { FIRST_REQUEST, firstRequest } from './first-request.js';
import { errorText, fence, continued } from './gather.js';

export function wantedHandoff(task: Task, agent: Agent, upstream: Placed): WantedChild[] {
  if (agent.handoff === undefined) return [];
  const answer = fence('response', upstream.task.to ?? agent.name, upstream.task.result ?? '', task.id);
  const first = firstRequest(task);
  const request = fence('original_user_request', first.from, first.text, task.id);
  return [
    {
      id: childId(task.id, `handoff-${agent.handoff}`),
      role: roleFacts(task.role).isMember ? task.role : 'handoff',
      to: agent.handoff,
      ...continued(task, `handoff-${agent.handoff}`),
      description:
        agent.context === 'none'
          ? first.text
          : [request, previous(upstream, agent), answer, ...conversation(task, agent, upstream)].join('\n\n'),
      // The next stage gets the original request, not this text around it.
      context: { [FIRST_REQUEST]: first },
    },
  ];
}

function previous({ task: { to } }: Placed, agent: Agent): string {
  return `${to ?? agent.name} has worked on this and hands over to you. Its answer follows. Continue from it: your answer is the one that the asker gets.`;
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
