/**
 * Reopens a failed task together with the failed tasks below it that are still needed. Completed
 * tasks and failures that their asker has already read stay as they are. Budgets are divided again,
 * from the current limits, which a person may have raised.
 */
import { roleFacts } from '../../domain/task/role.js';
import { addBudgets, isLimited, type Budget } from '../../domain/budget/budget.js';
import { mayBeCut } from '../../domain/task/id.js';
import { isNamedUnder, parentsFirst } from '../../domain/task/lineage.js';
import type { Session } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import { remainingBudget } from '../../rules/budget/remaining.js';
import { ancestors } from '../core/tree.js';
import { record, type EngineContext } from '../core/context.js';

export async function retryTask(context: EngineContext, id: string, cause: string): Promise<boolean> {
  const top = await context.tasks.read(id);
  if (top?.state !== 'failed') return false;
  await reopen(context, [top.task, ...(await failedBelow(context, top.task))], cause);
  return true;
}

/** Failed tasks below this one whose asker still waits for them. */
export async function failedBelow(context: EngineContext, { id, root }: Task): Promise<Task[]> {
  const wanted: Task[] = [];
  for (const { task } of await context.tasks.ended({ state: 'failed', root }))
    if ((await isBelow(context, task, id)) && (await isWanted(context, task))) wanted.push(task);
  return wanted;
}

/** A derived id shows its ancestors; for a shortened or hand-made one, look up the parents. */
async function isBelow(context: EngineContext, task: Task, id: string): Promise<boolean> {
  if (isNamedUnder(task, id)) return true;
  if (!mayBeCut(task.id) && isNamedUnder(task, task.root)) return false;
  for await (const ancestor of ancestors(context, task)) if (ancestor.id === id) return true;
  return false;
}

function itself(task: Task): Task {
  return task;
}

export async function reopen(context: EngineContext, failed: Task[], cause: string): Promise<void> {
  const budgets = await newBudgets(context, failed);
  // Children first: they must be open when the parent looks at them.
  for (const task of parentsFirst(failed, itself).reverse()) {
    const { error: _, ended_at: __, waits: ___, lost: ____, ...rest } = task;
    const budget = budgets.get(task.id);
    const again = { ...rest, attempts: 0, retries: (task.retries ?? 0) + 1 };
    if (await context.tasks.reopen(task.id, { ...again, ...(budget ? { budget } : {}) }))
      record(context, 'task.retried', { task: task.id, cause });
  }
}

/** A call whose failure is already in the asker's conversation is no longer needed. */
async function isWanted(context: EngineContext, task: Task): Promise<boolean> {
  const call = /\.call-([^.]+)$/.exec(task.id)?.[1];
  if (call === undefined || task.parent === undefined) return true;
  const asker = await context.tasks.read(task.parent);
  const opened = asker?.task.session ? await context.sessions.open(asker.task.session) : undefined;
  return opened?.kind !== 'open' || !hasHeard(opened.session, task, call);
}

function hasHeard({ messages }: Session, { id, role }: Task, call: string): boolean {
  // The call of a background task returns at once; its result arrives as a message.
  return roleFacts(role).runsInBackground
    ? messages.some((message) => message.kind === 'task_result' && message.from === id)
    : messages.some((message) => message.toolCallId === call);
}

/** Top-down: a failed child gets what it has spent plus a new share of what its parent has left. */
async function newBudgets(context: EngineContext, failed: readonly Task[]): Promise<Map<string, Budget>> {
  const budgets = new Map<string, Budget>();
  const limited = failed.filter((task) => task.parent !== undefined && task.budget !== undefined);
  if (limited.length === 0) return budgets;
  const all: Placed[] = [...context.tasks.open(), ...(await context.tasks.ended({ root: limited[0]!.root }))];
  for (const task of parentsFirst(limited, itself)) {
    const parent = all.find((placed) => placed.task.id === task.parent)?.task;
    const agent = parent?.to === undefined ? undefined : context.agents.all().get(parent.to);
    if (parent === undefined || agent === undefined) continue;
    const siblings = all.filter((placed) => placed.task.parent === parent.id);
    const funded = { ...parent, budget: budgets.get(parent.id) ?? parent.budget ?? {} };
    const wave = limited.filter((sibling) => sibling.parent === parent.id && !budgets.has(sibling.id)).length;
    const own = parent.own_usage ?? NO_USAGE;
    const counted = siblings.map((sibling) => reopened(sibling, budgets));
    const share = remainingBudget({ task: funded, agent, config: context.config, own, children: counted }).grant(
      { id: task.id, role: task.role, description: '', to: task.to },
      wave,
      1,
    );
    if (!('code' in share) && isLimited(share)) budgets.set(task.id, withSpent(task, share));
  }
  return budgets;
}

/** A child that is about to be reopened counts with its new budget. */
function reopened(placed: Placed, budgets: ReadonlyMap<string, Budget>): Placed {
  const budget = budgets.get(placed.task.id);
  return budget === undefined ? placed : { task: { ...placed.task, budget }, state: 'pending' };
}

function withSpent({ usage = NO_USAGE, budget = {} }: Task, share: Budget): Budget {
  const spent: Budget = {
    turns: usage.turns,
    tokens: usage.inputTokens + usage.outputTokens,
    microUsd: usage.microUsd,
    toolCalls: usage.toolCalls,
    children: usage.children,
  };
  const sum = addBudgets(spent, share);
  const names = Object.keys(share) as (keyof Budget)[];
  const fresh = Object.fromEntries(names.map((name) => [name, sum[name]])) as Budget;
  // A child with its own time budget gets it again in full.
  return budget.timeMs === undefined ? fresh : { ...fresh, timeMs: budget.timeMs + usage.busyMs };
}
