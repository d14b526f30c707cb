/** Router: one turn chooses who answers; then that agent gets the original request, with a word from the router if it left one. */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { childId } from '../../domain/task/id.js';
import { readRoute, type Route } from '../../domain/task/route.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { errorText, fence, goingOn } from './gather.js';

/** Whether this is the turn in which a router chooses. */
export function isChoosing({ role }: Pick<Task, 'role'>, { router }: Pick<Agent, 'router'>): boolean {
  return router !== undefined && roleFacts(role).isOwnWork;
}

/** The choice, else the fallback, else why nobody can answer. An answer that is no choice is none, however good. */
export function chosenRoute(agent: Agent, work: Placed): Route | { problem: Problem } {
  const { destinations, fallback } = agent.router!;
  const route = work.state === 'completed' ? readRoute(work.task.result ?? '') : undefined;
  if (route !== undefined && destinations.includes(route.agent)) return route;
  if (fallback !== undefined) return { agent: fallback, reason: 'the router made no valid choice' };
  const why = work.state === 'failed' ? errorText(work.task.error) : 'it answered without choosing';
  return {
    problem: problem(
      'model_failed',
      `the router ${agent.name} chose nobody (${why}); it could choose ${destinations.join(', ')}`,
      {
        where: { file: agent.file },
        hint: 'give the router a fallback, or make its prompt say when to choose whom',
      },
    ),
  };
}

export function wantedRoute(task: Task, agent: Agent, route: Route): WantedChild {
  const word = route.message ? `${fence('advisory', agent.name, route.message, task.id)}\n\n` : '';
  return {
    id: childId(task.id, `route-${route.agent}`),
    role: roleFacts(task.role).isMember ? task.role : 'route',
    to: route.agent,
    ...goingOn(task, `route-${route.agent}`),
    description:
      word === ''
        ? task.description
        : word + fence('original_user_request', task.from ?? 'human', task.description, task.id),
  };
}
