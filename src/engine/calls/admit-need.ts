/**
 * Validates a dependency or help request before it becomes a task. An impossible one is refused at
 * once with a reason that the model can read, and a relative deadline becomes a time.
 */
import { roleFacts } from '../../domain/task/role.js';
import { dependencyOf, type Dependency } from '../../domain/coordination/dependency.js';
import { helpOf, type Help } from '../../domain/coordination/help.js';
import { noAgent } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { ancestors } from '../core/tree.js';
import { record, type EngineContext } from '../core/context.js';

/** The child to create, or why it must not be created. Children with other roles pass unchanged. */
export async function admitNeed(
  context: EngineContext,
  asker: Task,
  child: WantedChild,
): Promise<WantedChild | Problem> {
  const { need } = roleFacts(child.role);
  if (need === undefined) return child;
  const asked = { role: child.role, context: child.context ?? {} };
  const dependency = dependencyOf(asked);
  const help = helpOf(asked);
  const wanted = dependency ?? help;
  if (wanted === undefined) return problem('bad_field', 'the request does not say what is needed');
  const deadline = deadlineOf(wanted.deadline, context.clock.now());
  const wrong =
    typeof deadline === 'object'
      ? deadline
      : dependency
        ? await impossible(context, asker, dependency)
        : unknownCapability(context, help!);
  if (wrong !== undefined) {
    record(context, `${need}.refused`, { task: asker.id, agent: asker.to, problem: wrong });
    return wrong;
  }
  if (deadline === undefined) return child;
  const dated = { ...wanted, deadline };
  return { ...child, context: { ...child.context, [need]: dated } };
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function deadlineOf(given: string | undefined, now: Date): string | Problem | undefined {
  if (given === undefined) return undefined;
  const length = /^(\d{1,9}(?:\.\d+)?)\s*(s|m|h|d)$/.exec(given);
  const at = length ? now.getTime() + Number(length[1]) * UNITS[length[2]!]! : timeOf(given);
  if (at === undefined || !(Math.abs(at) < MAX_TIME_MS))
    return problem(
      'bad_field',
      `invalid deadline ${JSON.stringify(given.slice(0, 60))}; write a time such as 2030-01-31T12:00:00Z or a duration such as 10m`,
    );
  if (at <= now.getTime())
    return problem('bad_field', `the deadline ${given} is in the past; the time is ${now.toISOString()}`);
  return new Date(at).toISOString();
}

/** The last time that a Date can hold. */
const MAX_TIME_MS = 8.64e15;

function timeOf(given: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(given);
  const at = isTime ? Date.parse(given) : NaN;
  return Number.isNaN(at) ? undefined : at;
}

async function impossible(
  context: EngineContext,
  asker: Task,
  { reviewer, after }: Dependency,
): Promise<Problem | undefined> {
  if (reviewer !== undefined) {
    if (!context.agents.all().has(reviewer)) return unknownAgent(context, reviewer);
    if (reviewer === asker.to)
      return problem(
        'not_allowed',
        'you cannot approve your own work; name another agent, or leave reviewer out to ask the human',
      );
  }
  if (after === undefined) return undefined;
  if ((await context.tasks.read(after)) === undefined)
    return problem('not_found', `there is no task ${JSON.stringify(after)} to wait for; use query_tasks to list tasks`);
  const waits = problem('cycle', `${after} waits for your task and cannot end before it`);
  if (after === asker.id) return waits;
  for await (const { id } of ancestors(context, asker)) if (id === after) return waits;
  return undefined;
}

/** Waiting for a capability that no agent has would never end. */
function unknownCapability(context: EngineContext, { capabilities }: Help): Problem | undefined {
  const known = new Set([...context.agents.all().values()].flatMap((agent) => agent.capabilities));
  const lacking = capabilities.filter((capability) => !known.has(capability));
  if (lacking.length === 0) return undefined;
  const list = [...known].sort().join(', ') || 'none';
  return problem('nobody_fit', `no agent has the capability ${lacking.join(', ')}; known capabilities: ${list}`);
}

function unknownAgent(context: EngineContext, name: string): Problem {
  return problem('unknown_agent', noAgent(name, context.agents.all().keys()));
}
