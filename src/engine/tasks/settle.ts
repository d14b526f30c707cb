/**
 * Ends a claim: the task is completed, failed, parked or released. Each writes the record and an
 * event.
 */
import type { Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task, Waits } from '../../domain/task/task.js';
import { usageFields } from '../../domain/budget/usage.js';
import type { Claim, WriteOptions } from '../../ports/store/tasks.js';
import { isCancelled } from './cancelled.js';
import type { Costs } from './costs.js';
import { certify } from './certify.js';
import { record, type EngineContext, type Ports } from '../core/context.js';
import { quoted } from '../core/quote.js';

export async function complete(
  context: EngineContext,
  claim: Claim,
  task: Task,
  result: string,
  costs?: Costs,
): Promise<void> {
  const { waits: _, error: __, lost: ___, written: ____, ...rest } = task;
  const ended: Task = { ...rest, result: await kept(context, result), ...spent(costs) };
  if (task.parent !== undefined) {
    // A stage's result can be derived again from its children or its own conversation.
    return settle(context, claim, ended, 'completed', {
      durable: !(roleFacts(task.role).isStage && task.session !== claim.agent),
    });
  }
  const certified = await certify(context, ended);
  if ('waits' in certified) {
    const dependencies = [...task.dependencies, ...certified.subtasks];
    return park(context, claim, { ...task, dependencies }, certified.waits, costs);
  }
  await settle(context, claim, { ...ended, certificate: certified.certificate }, 'completed');
}

/** A record must stay small enough to be read back; a longer text becomes a blob. */
export async function kept(context: EngineContext, text: string): Promise<string> {
  return quoted(context, text, context.config.limits.maxTaskBytes / 8);
}

/** `said`: what the agent said last, for people and for the asker. */
export async function fail(
  context: Ports,
  claim: Claim,
  task: Task,
  error: Problem,
  costs?: Costs,
  said?: string,
): Promise<void> {
  const { waits: _, result: __, ...rest } = task;
  const result = said === undefined ? {} : { result: said };
  await settle(context, claim, { ...rest, ...result, error, ...spent(costs) }, 'failed');
}

async function settle(
  context: Ports,
  claim: Claim,
  task: Task,
  state: 'completed' | 'failed',
  options: WriteOptions = {},
): Promise<void> {
  const ended = { ...task, ended_at: context.clock.now().toISOString() };
  const settled = await context.tasks.settle(claim, ended, state, options);
  if (!settled) {
    record(context, 'result.fenced', { task: task.id, agent: claim.agent });
    return;
  }
  record(context, state === 'completed' ? 'task.completed' : 'task.failed', {
    task: task.id,
    agent: claim.agent,
    cause: task.parent,
    role: task.role,
    usage: task.usage ? usageFields(task.usage) : undefined,
    error: task.error,
  });
  // Waits only after the event: the log must not show that the parent ended before this task.
  if (task.session !== undefined)
    await context.sessions.setStatus(task.session, state === 'completed' ? 'completed' : 'error');
}

export async function park(
  context: EngineContext,
  claim: Claim,
  task: Task,
  given: Waits,
  costs?: Costs,
): Promise<void> {
  const waits = costs?.short === undefined ? given : { ...given, budget: costs.short };
  const parked = await context.tasks.park(claim, { ...withProgress(task), waits, ...spent(costs) });
  if (parked) record(context, 'task.parked', { task: task.id, agent: claim.agent, waits });
}

/**
 * Parks a task that waits for its own children. They are derived from the tree, so this need not be
 * durable.
 */
export async function parkForChildren(
  context: EngineContext,
  claim: Claim,
  task: Task,
  tasks: string[],
  costs: Costs,
): Promise<void> {
  const parked = await context.tasks.park(claim, { ...task, ...spent(costs) }, { durable: false });
  if (parked) record(context, 'task.parked', { task: task.id, agent: claim.agent, waits: { tasks } });
}

export async function release(
  context: EngineContext,
  claim: Claim,
  task: Task,
  why: string,
  costs?: Costs,
): Promise<void> {
  const back = await context.tasks.release(claim, { ...withProgress(task), ...spent(costs) });
  if (back) record(context, 'task.released', { task: task.id, agent: claim.agent, why });
}

/**
 * Ends a task that was stopped while it ran. A cancelled subtree is released, and ended bottom-up.
 */
export async function settleStopped(
  context: EngineContext,
  claim: Claim,
  task: Task,
  error: Problem,
  costs: Costs,
): Promise<void> {
  return (await isCancelled(context, task))
    ? release(context, claim, task, error.message, costs)
    : fail(context, claim, task, error, costs);
}

/** A release by a live process resets the count of workers that died with the task. */
function withProgress({ lost: _, ...task }: Task): Task {
  return { ...task, attempts: 0 };
}

function spent(costs: Costs | undefined): Pick<Task, 'usage' | 'own_usage'> {
  return costs === undefined ? {} : { usage: costs.usage, own_usage: costs.own };
}
