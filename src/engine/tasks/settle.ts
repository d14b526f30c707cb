/** How a task leaves the hands of its taker: ended, parked, or put back. Each writes its record and its line of history. */
import type { Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task, Waits } from '../../domain/task/task.js';
import { usageFields } from '../../domain/budget/usage.js';
import type { Claim, Haste } from '../../ports/store.js';
import type { Costs } from './costs.js';
import { certify } from './certify.js';
import { record, type Parts } from '../core/context.js';
import { quoted } from '../core/quote.js';

export async function complete(parts: Parts, claim: Claim, task: Task, result: string, costs?: Costs): Promise<void> {
  const { waits: _, error: __, lost: ___, ...rest } = task;
  // A record must stay small enough to be read back; what is longer is kept as a blob.
  const kept = await quoted(parts, result, parts.config.limits.maxTaskBytes / 8);
  const ended: Task = { ...rest, result: kept, ...spent(costs) };
  if (task.parent !== undefined) {
    // Found again in its children or in a conversation of its own, so nobody need wait for it to be kept.
    return settle(parts, claim, ended, 'completed', {
      behind: roleFacts(task.role).isStage && task.session !== claim.agent,
    });
  }
  const certified = await certify(parts, ended);
  if ('waits' in certified) {
    const dependencies = [...task.dependencies, ...certified.subtasks];
    return park(parts, claim, { ...task, dependencies }, certified.waits, costs);
  }
  await settle(parts, claim, { ...ended, certificate: certified.certificate }, 'completed');
}

export async function fail(parts: Parts, claim: Claim, task: Task, error: Problem, costs?: Costs): Promise<void> {
  const { waits: _, result: __, ...rest } = task;
  await settle(parts, claim, { ...rest, error, ...spent(costs) }, 'failed');
}

async function settle(
  parts: Parts,
  claim: Claim,
  task: Task,
  state: 'completed' | 'failed',
  haste: Haste = {},
): Promise<void> {
  const ended = { ...task, ended_at: parts.clock.now().toISOString() };
  const settled = await parts.store.settle(claim, ended, state, haste);
  if (!settled) {
    record(parts, 'result.fenced', { task: task.id, agent: claim.agent });
    return;
  }
  record(parts, state === 'completed' ? 'task.completed' : 'task.failed', {
    task: task.id,
    agent: claim.agent,
    ...(task.parent ? { cause: task.parent } : {}),
    role: task.role,
    ...(task.usage ? { usage: usageFields(task.usage) } : {}),
    ...(task.error ? { error: task.error } : {}),
  });
  // After the line of history: whoever asked for it must not be recorded as ended before it.
  if (task.session !== undefined)
    await parts.store.markSession(task.session, state === 'completed' ? 'completed' : 'error');
}

export async function park(parts: Parts, claim: Claim, task: Task, given: Waits, costs?: Costs): Promise<void> {
  const waits = costs?.short === undefined ? given : { ...given, budget: costs.short };
  const parked = await parts.store.park(claim, { ...further(task), waits, ...spent(costs) });
  if (parked) record(parts, 'task.parked', { task: task.id, agent: claim.agent, waits });
}

/** Waits for its children: which they are is read off the tree, so only its place is kept. */
export async function rest(parts: Parts, claim: Claim, task: Task, tasks: string[], costs: Costs): Promise<void> {
  const parked = await parts.store.park(claim, { ...task, ...spent(costs) }, { behind: true });
  if (parked) record(parts, 'task.parked', { task: task.id, agent: claim.agent, waits: { tasks } });
}

export async function putBack(parts: Parts, claim: Claim, task: Task, why: string, costs?: Costs): Promise<void> {
  const back = await parts.store.release(claim, { ...further(task), ...spent(costs) });
  if (back) record(parts, 'task.released', { task: task.id, agent: claim.agent, why });
}

/** Whoever puts it down alive ends the row of those who died with it. */
function further({ lost: _, ...task }: Task): Task {
  return { ...task, attempts: 0 };
}

function spent(costs: Costs | undefined): Pick<Task, 'usage' | 'own_usage'> {
  return costs === undefined ? {} : { usage: costs.usage, own_usage: costs.own };
}
