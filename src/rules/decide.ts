/**
 * What a task still needs. A pure function of the task, its agent and its children; no phase is stored anywhere, so
 * whoever looks again, after whatever crash, comes to the same answer. The patterns compose in one order: limits,
 * advisors, work, handoff, resolve. Each stage asks for its complete set of children and goes on when all have ended.
 */
import { hasPattern, type Agent } from '../domain/agent.js';
import { childId } from '../domain/id.js';
import { problem, type Problem } from '../domain/problem.js';
import type { Task, WantedChild } from '../domain/task.js';
import { enrichedRequest, missingAdvice, wantedAdvisors } from './advisors.js';
import { gather, type Children } from './gather.js';
import { failedStage, wantedHandoff } from './handoff.js';

export type Decision =
  /** A leaf: a peer takes turns on it. */
  | { do: 'run' }
  /** These children must be there, and not all of them have ended. */
  | { do: 'ask'; children: WantedChild[] }
  | { do: 'resolve'; result: string }
  | { do: 'fail'; error: Problem };

export interface DecideLimits {
  depth: number;
}

export function decide(task: Task, agent: Agent, children: Children, limits: DecideLimits): Decision {
  if (task.depth > limits.depth) {
    return {
      do: 'fail',
      error: problem('over_limit', `depth ${task.depth} is over the limit of ${limits.depth}`, {
        hint: 'let fewer agents ask each other in a row, or raise limits.depth in guild.yaml',
      }),
    };
  }
  if (isLeaf(task, agent)) return { do: 'run' };
  if (agent.team !== undefined || agent.router !== undefined) return { do: 'fail', error: notYet(agent) };

  const advisors = wantedAdvisors(task, agent);
  const advice = gather(advisors, children);
  if (!advice.complete) return { do: 'ask', children: advisors };
  const withoutAdvice = missingAdvice(agent, advice.ended);
  if (withoutAdvice) return { do: 'fail', error: withoutAdvice };

  const work = wantedWork(task, agent, enrichedRequest(task, advice.ended));
  const worked = gather([work], children);
  if (!worked.complete) return { do: 'ask', children: [...advisors, work] };
  const own = worked.ended[0]!;
  if (own.state === 'failed') return { do: 'fail', error: failedStage('work', own) };

  const next = wantedHandoff(task, agent, own);
  const handed = gather(next, children);
  if (!handed.complete) return { do: 'ask', children: [...advisors, work, ...next] };
  const last = handed.ended[0] ?? own;
  if (last.state === 'failed') return { do: 'fail', error: failedStage('handoff', last) };
  return { do: 'resolve', result: last.task.result ?? '' };
}

/** An agent's own work under a pattern is a child, and that child is a leaf. */
export function isLeaf(task: Task, agent: Agent): boolean {
  return task.role === 'work' || !hasPattern(agent);
}

function wantedWork(task: Task, agent: Agent, request: string): WantedChild {
  const { original_goal: _, ...context } = task.context;
  return {
    id: childId(task.id, 'work'),
    role: 'work',
    to: agent.name,
    description: request,
    context,
    ...(task.session ? { session: task.session } : {}),
  };
}

function notYet(agent: Agent): Problem {
  return problem(
    'not_allowed',
    `${agent.name} is a ${agent.team ? 'team' : 'router'}, which this version cannot run yet`,
    {
      where: { file: agent.file },
      hint: 'use advisors, handoff or delegate_to_agent instead',
    },
  );
}
