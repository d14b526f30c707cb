/** How a task leaves the hands of its taker: ended, parked, or put back. Each writes its record and its line of history. */
import type { Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task, Waits } from '../../domain/task/task.js';
import { usageFields } from '../../domain/budget/usage.js';
import type { Claim, WriteOptions } from '../../ports/store/tasks.js';
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
  const { waits: _, error: __, lost: ___, ...rest } = task;
  // A record must stay small enough to be read back; what is longer is kept as a blob.
  const kept = await quoted(context, result, context.config.limits.maxTaskBytes / 8);
  const ended: Task = { ...rest, result: kept, ...spent(costs) };
  if (task.parent !== undefined) {
    // Found again in its children or in a conversation of its own, so nobody need wait for it to be kept.
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

export async function fail(context: Ports, claim: Claim, task: Task, error: Problem, costs?: Costs): Promise<void> {
  const { waits: _, result: __, ...rest } = task;
  await settle(context, claim, { ...rest, error, ...spent(costs) }, 'failed');
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
    ...(task.parent ? { cause: task.parent } : {}),
    role: task.role,
    ...(task.usage ? { usage: usageFields(task.usage) } : {}),
    ...(task.error ? { error: task.error } : {}),
  });
  // After the line of history: whoever asked for it must not be recorded as ended before it.
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
  const parked = await context.tasks.park(claim, { ...further(task), waits, ...spent(costs) });
  if (parked) record(context, 'task.parked', { task: task.id, agent: claim.agent, waits });
}

/** Waits for its children: which they are is read off the tree, so only its place is kept. */
export async function rest(
  context: EngineContext,
  claim: Claim,
  task: Task,
  tasks: string[],
  costs: Costs,
): Promise<void> {
  const parked = await context.tasks.park(claim, { ...task, ...spent(costs) }, { durable: false });
  if (parked) record(context, 'task.parked', { task: task.id, agent: claim.agent, waits: { tasks } });
}

export async function putBack(
  context: EngineContext,
  claim: Claim,
  task: Task,
  why: string,
  costs?: Costs,
): Promise<void> {
  const back = await context.tasks.release(claim, { ...further(task), ...spent(costs) });
  if (back) record(context, 'task.released', { task: task.id, agent: claim.agent, why });
}

/** Whoever puts it down alive ends the row of those who died with it. */
function further({ lost: _, ...task }: Task): Task {
  return { ...task, attempts: 0 };
}

function spent(costs: Costs | undefined): Pick<Task, 'usage' | 'own_usage'> {
  return costs === undefined ? {} : { usage: costs.usage, own_usage: costs.own };
}
