/** Validates a breakdown and compares its parts with open and recently completed tasks. */
import type { Breakdown, Part } from '../../domain/task/breakdown.js';
import { isNamedUnder } from '../../domain/task/lineage.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { partsProblem, sortParts, type KnownTask } from '../../rules/staffing/breakdown.js';
import { tooFast } from '../core/pace.js';
import type { EngineContext } from '../core/context.js';

/** Number of completed tasks to compare with; older work may be worth repeating. */
const RECENT = 50;

export async function breakDown(context: EngineContext, task: Task, wanted: Part[]): Promise<Breakdown | Problem> {
  const { depth } = context.config.limits;
  if (task.depth + 1 > depth)
    return problem(
      'over_limit',
      `this task is at the depth limit of ${depth} and cannot be broken down further; do it yourself, or answer with what is missing`,
    );
  const capabilities = new Set([...context.agents.all().values()].flatMap((agent) => agent.capabilities));
  const wrong = partsProblem(wanted, task.description, capabilities);
  if (wrong !== undefined) return problem('bad_field', wrong);
  if (wanted.length > context.pace.room(task))
    return problem('over_limit', tooFast(context.config.limits.tasksPerMinute));
  return sortParts(wanted, await known(context, task));
}

/** Tasks that people or agents asked for, without stages and without this task's ancestors. */
async function known(context: EngineContext, task: Task): Promise<KnownTask[]> {
  const open = [...context.tasks.open()].map((placed) => placed.task);
  const ended = (await context.tasks.ended({ state: 'completed', limit: RECENT })).map((placed) => placed.task);
  return [...open, ...ended]
    .filter(({ id, role }) => roleFacts(role).isWork && id !== task.id && !isNamedUnder(task, id))
    .map(({ id, description }) => ({ id, description }));
}
