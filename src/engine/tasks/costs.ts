/** The spending of a task and its children, read from their records. */
import { roleFacts } from '../../domain/task/role.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import type { BudgetName } from '../../domain/budget/budget.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import { HUMAN, type Placed, type Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** A task's own spending, and its spending together with everything below it. */
export interface Costs {
  own: Usage;
  usage: Usage;
  /** The budget that is used up while its children still hold shares of it. */
  short?: BudgetName;
}

/**
 * Tasks that people added below this one, on a board or as files, and the bids for it. It waits for
 * them, and their cost counts like its own children's.
 */
export async function subtasks(context: EngineContext, task: Task): Promise<Placed[]> {
  if (task.dependencies.length === 0 && task.bids === undefined) return [];
  const dependencies = await Promise.all(task.dependencies.map((id) => context.tasks.read(id)));
  const own = dependencies.flatMap((placed) => (placed?.task.parent === task.id ? placed : []));
  return [...own, ...(await bidsOf(context, task))];
}

export async function bidsOf(context: EngineContext, task: Task): Promise<Placed[]> {
  const bids = await Promise.all((task.bids ?? []).map((id) => context.tasks.read(id)));
  return bids.flatMap((placed) => placed ?? []);
}

export function costsOf(spent: Usage, children: Iterable<Placed | undefined>): Costs {
  let own: Usage = { ...spent, children: 0 };
  let below: Usage = NO_USAGE;
  for (const child of children) {
    if (child === undefined || child.task.to === HUMAN) continue;
    if (roleFacts(child.task.role).countsAsChild) own = addUsage(own, { children: 1 });
    below = addUsage(below, child.task.usage ?? NO_USAGE);
  }
  return { own, usage: addUsage(own, below) };
}

/** Ids of the children that these messages asked for. */
export function askedIn(context: EngineContext, task: Task, messages: readonly Message[], from: number): string[] {
  const ids: string[] = [];
  for (let i = from; i < messages.length; i++) {
    for (const call of messages[i]!.toolCalls ?? [])
      if (context.tools.get(call.name)?.kind === 'ask') ids.push(childId(task.id, `call-${call.id}`));
  }
  return ids;
}
