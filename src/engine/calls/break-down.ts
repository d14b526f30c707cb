/** Takes in a breakdown: checks its parts, and compares them with what is open and what was done lately, once. */
import type { Breakdown, Part } from '../../domain/task/piece.js';
import { isNamedUnder } from '../../domain/task/lineage.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { partsProblem, sortParts, type Known } from '../../rules/staffing/breakdown.js';
import { tooFast } from '../core/pace.js';
import type { Parts } from '../core/context.js';

/** How many ended tasks are looked at; older work may be worth doing again. */
const RECENT = 50;

export async function breakDown(parts: Parts, task: Task, wanted: Part[]): Promise<Breakdown | Problem> {
  const { depth } = parts.config.limits;
  if (task.depth + 1 > depth)
    return problem(
      'over_limit',
      `work is broken down at most ${depth} deep, and this is; do it yourself, or answer what is missing`,
    );
  const capabilities = new Set([...parts.agents.all().values()].flatMap((agent) => agent.capabilities));
  const wrong = partsProblem(wanted, task.description, capabilities);
  if (wrong !== undefined) return problem('bad_field', wrong);
  if (parts.pace !== undefined && wanted.length > parts.pace.room(task))
    return problem('over_limit', tooFast(parts.config.limits.tasksPerMinute));
  return sortParts(wanted, await known(parts, task));
}

/** Work that people or agents asked for; not the machinery around it, and not the line of tasks that this one serves. */
async function known(parts: Parts, task: Task): Promise<Known[]> {
  const open = [...parts.store.open()].map((one) => one.task);
  const ended = (await parts.store.ended({ state: 'completed', limit: RECENT })).map((one) => one.task);
  return [...open, ...ended]
    .filter(({ id, role }) => roleFacts(role).isWork && id !== task.id && !isNamedUnder(task, id))
    .map(({ id, description }) => ({ id, description }));
}
