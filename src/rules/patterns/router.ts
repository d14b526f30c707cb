/**
 * Router: one turn chooses an agent, which gets the original request and the router's note, if any.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import { readRoute, type Route } from '../../domain/task/route.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { fencedRequest, FIRST_REQUEST, firstRequest } from './first-request.js';
import { errorText, fence, continued } from './gather.js';

export function isChoosing({ role }: Pick<Task, 'role'>, { router }: Pick<Agent, 'router'>): boolean {
  return router !== undefined && roleFacts(role).isOwnWork;
}

/** The choice, else the fallback, else the reason for a failure. A prose answer is not a choice. */
export function chosenRoute(agent: Agent, work: Placed): Route | { problem: Problem } {
  const { destinations, fallback } = agent.router!;
  const route = work.state === 'completed' ? readRoute(work.task.result ?? '') : undefined;
  if (route !== undefined && destinations.includes(route.agent)) return route;
  if (fallback !== undefined) return { agent: fallback, reason: 'the router made no valid choice' };
  const why = work.state === 'failed' ? errorText(work.task.error) : 'it answered without choosing';
  return {
    problem: problem(
      'model_failed',
      `the router ${agent.name} chose no agent (${why}); its destinations are ${destinations.join(', ')}`,
      {
        where: { file: agent.file },
        hint: 'give the router a fallback, or let its prompt say when to choose which agent',
      },
    ),
  };
}

export function wantedRoute(task: Task, agent: Agent, route: Route): WantedChild {
  const note = route.message
    ? `\n\nA note from ${agent.name}, which chose you:\n\n${fence('note', agent.name, route.message, task.id)}`
    : '';
  return {
    id: childId(task.id, `route-${route.agent}`),
    role: roleFacts(task.role).isMember ? task.role : 'route',
    to: route.agent,
    ...continued(task, `route-${route.agent}`),
    description: note === '' ? task.description : fencedRequest(task) + note,
    context: { [FIRST_REQUEST]: firstRequest(task) },
  };
}
