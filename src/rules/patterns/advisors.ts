/** Advisors: each gets the bare request, in parallel; then the agent works with their advice in front of the request. */
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { errorText, fence, goingOn } from './gather.js';

export function wantedAdvisors(task: Task, agent: Agent): WantedChild[] {
  return agent.advisors.map((advisor) => ({
    id: childId(task.id, `advisor-${advisor.agent}`),
    role: 'advisor',
    to: advisor.agent,
    description: task.description,
    ...goingOn(task, `advisor-${advisor.agent}`),
    ...(advisor.timeoutMs === undefined ? {} : { budget: { timeMs: advisor.timeoutMs } }),
  }));
}

/** The failure of an advisor that is required; any other failure only stands in its place. */
export function missingAdvice(agent: Agent, advice: readonly Placed[]): Problem | undefined {
  for (const advisor of agent.advisors) {
    const failed = advice.find((one) => one.task.to === advisor.agent && one.state === 'failed');
    if (advisor.required && failed) {
      return problem(
        'dependency_failed',
        `the required advisor ${advisor.agent} failed: ${errorText(failed.task.error)}`,
      );
    }
  }
  return undefined;
}

export function enrichedRequest(task: Task, advice: readonly Placed[]): string {
  if (advice.length === 0) return task.description;
  const parts = advice.map(({ task: child, state }) => {
    const text = state === 'completed' ? (child.result ?? '') : `Advisor ${child.to} failed: ${errorText(child.error)}`;
    return fence('advisory', child.to ?? 'advisor', text, task.id);
  });
  return [...parts, fence('original_user_request', task.from ?? 'human', task.description, task.id)].join('\n\n');
}
