/**
 * Takes in what people want: intents (cancel, retry, tell) are carried out, and work that is addressed to nobody gets its
 * taker. An intent about a task that another live process holds is left for that process.
 */
import { openUnder } from '../core/tree.js';
import { roleFacts } from '../../domain/task/role.js';
import { problem, type Problem } from '../../domain/problem.js';
import { approvalOf } from '../../domain/task/approval.js';
import type { Intent } from '../../domain/task/intent.js';
import { parentsFirst } from '../../domain/task/lineage.js';
import { ENGINE, HUMAN, type OpenState, type Task } from '../../domain/task/task.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { answerApproval } from '../approvals/answers.js';
import { fail } from '../tasks/settle.js';
import type { Flight } from '../core/flight.js';
import { record, type EngineContext } from '../core/context.js';
import { retryTask } from './retry.js';
import { tellBroken } from '../coordination/report-deadlock.js';

/** True if anything changed. `nudged`: intents whose parked task was woken for them already. */
export async function takeIntents(
  context: EngineContext,
  flights: ReadonlyMap<string, Flight>,
  nudged: Set<string>,
): Promise<boolean> {
  let moved = false;
  const intents = await context.intents.list();
  for (const id of nudged) if (!intents.some((intent) => intent.id === id)) nudged.delete(id);
  for (const intent of intents) {
    if (intent.kind === 'cancel') moved = (await cancel(context, intent, flights)) || moved;
    else if (intent.kind === 'stop') moved = (await stop(context, intent)) || moved;
    else if (intent.kind === 'retry') moved = (await retry(context, intent)) || moved;
    else if (intent.kind === 'answer') moved = (await take(context, intent)) || moved;
    else moved = (await tell(context, intent, nudged)) || moved;
  }
  return moved;
}

/** Flights of this process that somebody cancels while it waits for them. Only told to stop here; the next pass does the rest. */
export async function stopCancelled(context: EngineContext, flights: ReadonlyMap<string, Flight>): Promise<void> {
  for (const intent of await context.intents.list()) {
    if (intent.kind !== 'cancel') continue;
    for (const { task } of openUnder(context, intent.task)) {
      const flight = flights.get(task.id);
      if (flight && !flight.stop.signal.aborted) flight.stop.abort(cancelled(intent));
    }
  }
}

/** Reaches every open descendant. The intent stays until none is open, so that whoever holds one sees it. */
async function cancel(
  context: EngineContext,
  intent: Intent & { kind: 'cancel' },
  flights: ReadonlyMap<string, Flight>,
): Promise<boolean> {
  const under = openUnder(context, intent.task);
  if (under.length === 0) {
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: intent.task, cause: intent.id, kind: 'cancel' });
    return false;
  }
  const error = cancelled(intent);
  for (const { task } of under) flights.get(task.id)?.stop.abort(error);
  let moved = false;
  const above = new Set<string>();
  // Children first: a record says what all under it have cost. Nobody goes on meanwhile with what was cancelled under it (called-off.ts).
  for (const { task } of parentsFirst(under, (one) => one.task).reverse()) {
    if (above.has(task.id) || !(await cancelOne(context, task, error, flights))) {
      if (task.parent !== undefined) above.add(task.parent);
      continue;
    }
    moved = true;
    if (task.id === intent.task && intent.deadlock) await tellBroken(context, task, intent.deadlock);
  }
  return moved;
}

function cancelled({ reason, by, problem: given }: Intent & { kind: 'cancel' }): Problem {
  if (given !== undefined) return given;
  return problem('cancelled', reason ?? `cancelled by ${by}`, { hint: 'retry it to go on from where it stopped' });
}

/**
 * False if it is held: a flight of this process is told to stop, one of another process is that process's own.
 * `isMeant` is asked again under the claim, because the task may have moved on since the caller decided.
 */
export async function cancelOne(
  context: EngineContext,
  task: Task,
  error: Problem,
  flights: ReadonlyMap<string, Flight>,
  isMeant: (task: Task, from: OpenState) => boolean = () => true,
): Promise<boolean> {
  const flight = flights.get(task.id);
  if (flight) {
    if (!flight.stop.signal.aborted) flight.stop.abort(error);
    return false;
  }
  const claim = await context.tasks.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (!isMeant(claim.task, claim.from)) {
    await context.tasks.release(claim, claim.task);
    return false;
  }
  await fail(context, claim, claim.task, error, await costsAtRest(context, claim.task));
  return true;
}

/**
 * Asks everything under a task for a last answer. The conversations see it themselves, before their next turn; here what
 * would keep them waiting is ended: questions to people, and what was asked of others and has not begun.
 */
async function stop(context: EngineContext, intent: Intent & { kind: 'stop' }): Promise<boolean> {
  const under = openUnder(context, intent.task);
  if (under.length === 0) {
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: intent.task, cause: intent.id, kind: 'stop' });
    return false;
  }
  const error = problem('cancelled', `stopped by ${intent.by} before it was begun`);
  let moved = false;
  for (const { task, state } of under) {
    // A resource, the end of another task, somebody who is free: nobody is at it who could answer.
    const isIdle = task.to === ENGINE && !under.some((one) => one.task.parent === task.id);
    const keepsWaiting = (now: Task, from: OpenState): boolean => now.to === HUMAN || isIdle || isUnbegun(now, from);
    if (task.id !== intent.task && keepsWaiting(task, state))
      moved = (await cancelOne(context, task, error, new Map(), keepsWaiting)) || moved;
  }
  return moved;
}

function isUnbegun(task: Task, state: OpenState): boolean {
  return state === 'pending' && task.claimed_at === undefined && !roleFacts(task.role).isEssential;
}

async function retry(context: EngineContext, intent: Intent & { kind: 'retry' }): Promise<boolean> {
  const known = await retryTask(context, intent.task, intent.id);
  await context.intents.done(intent.id);
  const name = known ? 'intent.taken' : 'intent.refused';
  record(context, name, {
    task: intent.task,
    cause: intent.id,
    kind: 'retry',
    ...(known ? {} : { why: 'no failed task has this id' }),
  });
  return known;
}

async function take(context: EngineContext, intent: Intent & { kind: 'answer' }): Promise<boolean> {
  const target = await context.tasks.read(intent.task);
  const fits = target !== undefined && approvalOf(target.task) !== undefined;
  const taken = fits && (await answerApproval(context, intent.task, intent.answer, intent.id));
  await context.intents.done(intent.id);
  if (!taken)
    record(context, 'intent.refused', {
      task: intent.task,
      cause: intent.id,
      kind: 'answer',
      why: 'no open approval has this id',
    });
  return taken;
}

/** A parked task hears it at once: it becomes pending, and its next turn begins with what it was told. */
async function tell(context: EngineContext, intent: Intent & { kind: 'tell' }, nudged: Set<string>): Promise<boolean> {
  const target = context.tasks.getOpen(intent.task);
  if (target === undefined) {
    // The task may have heard it since the intents were read, and ended after that: then nothing is refused.
    if (!(await context.intents.list()).some(({ id }) => id === intent.id)) return false;
    await context.intents.done(intent.id);
    record(context, 'intent.refused', {
      task: intent.task,
      cause: intent.id,
      kind: 'tell',
      why: 'no open task has this id',
    });
    return false;
  }
  // Once is enough: a task that still waits for others parks again, and hears it when it can speak.
  if (target.state !== 'waiting' || nudged.has(intent.id)) return false;
  nudged.add(intent.id);
  const claim = await context.tasks.claim(intent.task, target.task.to ?? 'nobody');
  return claim !== undefined && (await context.tasks.release(claim, claim.task));
}
