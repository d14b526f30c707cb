/** How a task leaves the hands of its taker: ended, parked, or put back. Each writes its record and its line of history. */
import type { Problem } from '../domain/problem.js';
import type { Task, Waits } from '../domain/task.js';
import type { Usage } from '../domain/usage.js';
import type { Claim } from '../ports/store.js';
import { record, type Parts } from './parts.js';

export async function complete(parts: Parts, claim: Claim, task: Task, result: string, usage?: Usage): Promise<void> {
  const { waits: _, error: __, ...rest } = task;
  await settle(parts, claim, { ...rest, result, ...(usage ? { usage } : {}) }, 'completed');
}

export async function fail(parts: Parts, claim: Claim, task: Task, error: Problem, usage?: Usage): Promise<void> {
  const { waits: _, result: __, ...rest } = task;
  await settle(parts, claim, { ...rest, error, ...(usage ? { usage } : {}) }, 'failed');
}

async function settle(parts: Parts, claim: Claim, task: Task, state: 'completed' | 'failed'): Promise<void> {
  const ended = { ...task, ended_at: parts.clock.now().toISOString() };
  const settled = await parts.store.settle(claim, ended, state);
  if (!settled) {
    record(parts, 'result.fenced', { task: task.id, agent: claim.agent });
    return;
  }
  if (task.session !== undefined) parts.store.markSession(task.session, state === 'completed' ? 'completed' : 'error');
  record(parts, state === 'completed' ? 'task.completed' : 'task.failed', {
    task: task.id,
    agent: claim.agent,
    ...(task.parent ? { cause: task.parent } : {}),
    ...(task.usage ? { usage: task.usage } : {}),
    ...(task.error ? { error: task.error } : {}),
  });
}

export async function park(parts: Parts, claim: Claim, task: Task, waits: Waits, usage?: Usage): Promise<void> {
  const parked = await parts.store.park(claim, { ...task, waits, ...(usage ? { usage } : {}) });
  if (parked) record(parts, 'task.parked', { task: task.id, agent: claim.agent, waits });
}

export async function putBack(parts: Parts, claim: Claim, task: Task, why: string): Promise<void> {
  const back = await parts.store.release(claim, task);
  if (back) record(parts, 'task.released', { task: task.id, agent: claim.agent, why });
}
