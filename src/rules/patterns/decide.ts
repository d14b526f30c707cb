/**
 * Decides what a task still needs, as a pure function of the task, its agent and its children. No
 * phase is stored, so the answer is the same after any crash. Patterns compose in one order:
 * limits, advisors, team, work, goal check, route, handoff, resolve. A stage is over when all its
 * children are.
 */
import { hasPattern, isTerminal, type Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { followUpOf } from '../../domain/task/follow-up.js';
import { childId } from '../../domain/task/id.js';
import type { Breakdown } from '../../domain/task/breakdown.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { breakdownStep } from './breakdown.js';
import { enrichedRequest, missingAdvice, wantedAdvisors } from './advisors.js';
import { checkStep, isChecked } from './check.js';
import { gather, type Children } from './gather.js';
import { failedStage, wantedHandoff } from './handoff.js';
import { chosenRoute, wantedRoute } from './router.js';
import { teamStep, discussionRequest } from './team.js';

type Decision =
  /** A leaf: an agent takes turns on it. */
  | { do: 'run' }
  /** These children must exist, and not all of them have ended. */
  | { do: 'ask'; children: WantedChild[] }
  | { do: 'resolve'; result: string }
  | { do: 'fail'; error: Problem };

interface DecideLimits {
  depth: number;
}

export function decide(task: Task, agent: Agent, children: Children, limits: DecideLimits): Decision {
  const deep = tooDeep(task, limits);
  if (deep) return { do: 'fail', error: deep };
  if (roleFacts(task.role).isBreakdown) {
    const step = breakdownStep(task, task.context['breakdown'] as Breakdown, children);
    return 'ask' in step ? { do: 'ask', children: step.ask } : { do: 'resolve', result: step.result };
  }
  if (isLeaf(task, agent)) return { do: 'run' };

  const advisors = continues(task) ? [] : wantedAdvisors(task, agent);
  const advice = gather(advisors, children);
  if (!advice.complete) return { do: 'ask', children: advisors };
  const withoutAdvice = missingAdvice(agent, advice.ended);
  if (withoutAdvice) return { do: 'fail', error: withoutAdvice };
  let request = enrichedRequest(task, advice.ended);
  const asked = [...advisors];

  if (agent.team !== undefined && !continues(task)) {
    const team = teamStep(task, agent, request, children);
    asked.push(...team.children);
    if (team.kind === 'ask') return { do: 'ask', children: asked };
    request = discussionRequest(task, request, team.notes, team.why);
  }

  const work = wantedWork(task, agent, request);
  asked.push(work);
  const worked = gather([work], children);
  if (!worked.complete) return { do: 'ask', children: asked };
  let last = worked.ended[0]!;

  if (isChecked(agent) && last.state === 'completed') {
    const check = checkStep(task, agent, work, last, children);
    if (check.kind === 'fail') return { do: 'fail', error: check.error };
    asked.push(...check.children);
    if (check.kind === 'ask') return { do: 'ask', children: asked };
    last = check.last;
  }

  if (agent.router !== undefined) {
    const route = chosenRoute(agent, last);
    if ('problem' in route) return { do: 'fail', error: route.problem };
    const routed = wantedRoute(task, agent, route);
    asked.push(routed);
    const answered = gather([routed], children);
    if (!answered.complete) return { do: 'ask', children: asked };
    last = answered.ended[0]!;
    if (last.state === 'failed') return { do: 'fail', error: failedStage('route', last) };
  } else if (last.state === 'failed') return { do: 'fail', error: failedStage('work', last) };

  const next = wantedHandoff(task, agent, last);
  asked.push(...next);
  const handed = gather(next, children);
  if (!handed.complete) return { do: 'ask', children: asked };
  last = handed.ended[0] ?? last;
  if (last.state === 'failed') return { do: 'fail', error: failedStage('handoff', last) };
  return { do: 'resolve', result: last.task.result ?? '' };
}

/** A fork or a follow-up continues where advisors and team have already spoken. */
function continues(task: Task): boolean {
  const { parent, session, context } = task;
  if (parent !== undefined || session === undefined) return false;
  return context['forked_from'] !== undefined || followUpOf(task) !== undefined;
}

export function tooDeep(task: Task, limits: DecideLimits): Problem | undefined {
  if (task.depth <= limits.depth) return undefined;
  return problem('over_limit', `depth ${task.depth} is over the limit of ${limits.depth}`, {
    hint: 'shorten the chain of agents that ask each other, or raise limits.depth in guild.yaml',
  });
}

/** An agent's own work under a pattern is a child, and that child is a leaf. */
export function isLeaf(task: Pick<Task, 'role'>, agent: Agent): boolean {
  const facts = roleFacts(task.role);
  return !facts.isBreakdown && (facts.isLeaf || !hasPattern(agent));
}

function wantedWork(task: Task, agent: Agent, request: string): WantedChild {
  const { original_goal: _, ...context } = task.context;
  return defined({
    id: childId(task.id, 'work'),
    // The last agent of a member's chain speaks and votes in the team.
    role: roleFacts(task.role).isMember && isTerminal(agent) ? 'seat' : 'work',
    to: agent.name,
    description: request,
    context,
    session: task.session,
  });
}
