/** What a task and its children have spent, read from their records. */
import { roleFacts } from '../../domain/task/role.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import type { BudgetName } from '../../domain/budget/budget.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import { HUMAN, type Placed, type Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** What a task spent itself, and with all under it. */
export interface Costs {
  own: Usage;
  usage: Usage;
  /** What it lacked to ask for more, as long as its children hold that. */
  short?: BudgetName;
}

/**
 * Tasks that people put under this one, on a board or as files, and the bids for it: it waits for them, and what they cost counts as its
 * own children's.
 */
export async function subtasks(context: EngineContext, task: Task): Promise<Placed[]> {
  const found = await Promise.all(task.dependencies.map((id) => context.tasks.read(id)));
  return [...found.flatMap((one) => (one?.task.parent === task.id ? one : [])), ...(await bidsOf(context, task))];
}

export async function bidsOf(context: EngineContext, task: Task): Promise<Placed[]> {
  const found = await Promise.all((task.bids ?? []).map((id) => context.tasks.read(id)));
  return found.flatMap((one) => one ?? []);
}

/** The books of a task, given the children it has made. */
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

/** Ids of what these messages asked of others. */
export function askedIn(context: EngineContext, task: Task, messages: readonly Message[], from: number): string[] {
  const found: string[] = [];
  for (let i = from; i < messages.length; i++) {
    for (const call of messages[i]!.toolCalls ?? [])
      if (context.tools.get(call.name)?.kind === 'ask') found.push(childId(task.id, `call-${call.id}`));
  }
  return found;
}
