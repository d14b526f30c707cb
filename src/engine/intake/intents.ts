/**
 * Carries out intents: cancel, stop, retry, assign, answer and tell. An intent about a task that
 * another live process holds is left to that process.
 */
import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { openUnder } from '../core/tree.js';
import { roleFacts } from '../../domain/task/role.js';
import { problem, type Problem } from '../../domain/problem.js';
import { approvalOf, type Answer, type Approval } from '../../domain/task/approval.js';
import { answerIn } from '../../domain/task/question.js';
import type { Intent } from '../../domain/task/intent.js';
import { parentsFirst } from '../../domain/task/lineage.js';
import { ENGINE, HUMAN, isEnded, type OpenState, type Task } from '../../domain/task/task.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { answerApproval } from '../approvals/answers.js';
import { soundApproval } from '../approvals/request.js';
import { createFollowUp } from '../tasks/follow-up.js';
import { fail } from '../tasks/settle.js';
import type { Flight } from '../core/flight.js';
import { record, type EngineContext } from '../core/context.js';
import { fence } from '../core/fence.js';
import { assign } from './assign.js';
import { retryTask } from './retry.js';
import { reportDeadlock } from '../coordination/report-deadlock.js';

/** True if anything changed. `nudged`: intents whose parked task was already woken. */
export async function takeIntents(
  context: EngineContext,
  flights: ReadonlyMap<string, Flight>,
  nudged: Set<string>,
): Promise<boolean> {
  let moved = false;
  const intents = await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs });
  for (const id of nudged) if (!intents.some((intent) => intent.id === id)) nudged.delete(id);
  for (const intent of intents) {
    const name = `the request ${intent.id} (${intent.kind} ${intent.task})`;
    moved = (await fence(context, name, () => takeIntent(context, intent, flights, nudged), false)) || moved;
  }
  return moved;
}

async function takeIntent(
  context: EngineContext,
  intent: Intent,
  flights: ReadonlyMap<string, Flight>,
  nudged: Set<string>,
): Promise<boolean> {
  switch (intent.kind) {
    case 'cancel':
      return cancel(context, intent, flights);
    case 'stop':
      return stop(context, intent);
    case 'retry':
      return retry(context, intent);
    case 'assign':
      return assign(context, intent);
    case 'answer':
      return answer(context, intent);
    case 'tell':
      return tell(context, intent, nudged);
  }
}

/** Signals cancelled flights of this process to stop. The next pass ends their tasks. */
export async function stopCancelled(context: EngineContext, flights: ReadonlyMap<string, Flight>): Promise<void> {
  for (const intent of await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs })) {
    if (intent.kind !== 'cancel') continue;
    for (const { task } of openUnder(context, intent.task)) {
      const flight = flights.get(task.id);
      if (flight && !flight.stop.signal.aborted) flight.stop.abort(cancelled(intent));
    }
  }
}

/**
 * Ends every open descendant. The intent stays until none is open, so that every process sees it.
 */
async function cancel(
  context: EngineContext,
  intent: Intent & { kind: 'cancel' },
  flights: ReadonlyMap<string, Flight>,
): Promise<boolean> {
  if (await isOver(context, intent.task)) {
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: intent.task, cause: intent.id, kind: 'cancel' });
    return false;
  }
  const under = openUnder(context, intent.task);
  const error = cancelled(intent);
  for (const { task } of under) flights.get(task.id)?.stop.abort(error);
  let moved = false;
  const blocked = new Set<string>();
  // Children first: a record includes the costs below it. Cancelled tasks do not advance meanwhile
  // (tasks/cancelled.ts).
  for (const { task } of parentsFirst(under, (open) => open.task).reverse()) {
    if (blocked.has(task.id) || !(await cancelTask(context, task, error, flights))) {
      if (task.parent !== undefined) blocked.add(task.parent);
      continue;
    }
    moved = true;
    if (task.id === intent.task && intent.deadlock) await reportDeadlock(context, task, intent.deadlock);
  }
  return moved;
}

/**
 * Checks in the store that nothing under this task is open. The view of this process may be stale:
 * another process may just have moved the task, and would never see an intent that is removed now.
 */
async function isOver(context: EngineContext, id: string): Promise<boolean> {
  if (openUnder(context, id).length > 0) return false;
  await context.lookAgain();
  return openUnder(context, id).length === 0 && hasEnded(context, id);
}

async function hasEnded({ tasks }: EngineContext, id: string): Promise<boolean> {
  const placed = tasks.isOpen(id) ? undefined : await tasks.read(id);
  return !tasks.isOpen(id) && (placed === undefined || isEnded(placed.state));
}

function cancelled({ reason, by, problem: cause }: Intent & { kind: 'cancel' }): Problem {
  if (cause !== undefined) return cause;
  return problem('cancelled', reason ?? `cancelled by ${by}`, { hint: 'retry it to continue where it stopped' });
}

/**
 * False if the task is running: a flight of this process is signalled to stop, other processes stop
 * their own. `stillApplies` is checked under the claim, because the task may have changed
 * meanwhile.
 */
export async function cancelTask(
  context: EngineContext,
  task: Task,
  error: Problem,
  flights: ReadonlyMap<string, Flight>,
  stillApplies: (task: Task, from: OpenState) => boolean = () => true,
): Promise<boolean> {
  const flight = flights.get(task.id);
  if (flight) {
    if (!flight.stop.signal.aborted) flight.stop.abort(error);
    return false;
  }
  const claim = await context.tasks.claim(task.id, task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (!stillApplies(claim.task, claim.from)) {
    await context.tasks.release(claim, claim.task);
    return false;
  }
  await fail(context, claim, claim.task, error, await costsAtRest(context, claim.task));
  return true;
}

/**
 * Asks a task and its descendants for a last answer. Conversations see the intent before their next
 * turn. This ends the tasks that would keep them waiting: questions to people, and requests not yet
 * started.
 */
async function stop(context: EngineContext, intent: Intent & { kind: 'stop' }): Promise<boolean> {
  if (await isOver(context, intent.task)) {
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: intent.task, cause: intent.id, kind: 'stop' });
    return false;
  }
  const under = openUnder(context, intent.task);
  const error = problem('cancelled', `stopped by ${intent.by} before it started`);
  let moved = false;
  for (const { task, state } of under) {
    // It waits for a resource, another task or a free agent; no agent works on it that could
    // answer.
    const isIdle = task.to === ENGINE && !under.some((open) => open.task.parent === task.id);
    const keepsWaiting = (now: Task, from: OpenState): boolean => now.to === HUMAN || isIdle || isUnstarted(now, from);
    if (task.id !== intent.task && keepsWaiting(task, state))
      moved = (await cancelTask(context, task, error, new Map(), keepsWaiting)) || moved;
  }
  return moved;
}

function isUnstarted(task: Task, state: OpenState): boolean {
  return state === 'pending' && task.claimed_at === undefined && !roleFacts(task.role).isEssential;
}

async function retry(context: EngineContext, intent: Intent & { kind: 'retry' }): Promise<boolean> {
  const isRetried = await retryTask(context, intent.task, intent.id);
  await context.intents.done(intent.id);
  const name = isRetried ? 'intent.taken' : 'intent.refused';
  record(context, name, {
    task: intent.task,
    cause: intent.id,
    kind: 'retry',
    why: isRetried ? undefined : 'no failed task has this id',
  });
  return isRetried;
}

async function answer(context: EngineContext, intent: Intent & { kind: 'answer' }): Promise<boolean> {
  const before = await context.tasks.read(intent.task);
  const isRefusal = !intent.answer.approved;
  const wanted = before && (isRefusal ? approvalOf(before.task) : soundApproval(before.task));
  const wrong = wanted && misfit(wanted, intent.answer);
  if (wrong !== undefined) {
    await context.intents.done(intent.id);
    record(context, 'intent.refused', { task: intent.task, cause: intent.id, kind: 'answer', why: wrong });
    return false;
  }
  // A refusal allows nothing, so it needs neither a digest nor a signature.
  const isSeen = wanted !== undefined && (isRefusal || isOurs(context, wanted, intent));
  const taken = isSeen && (await answerApproval(context, intent.task, intent.answer, intent.id));
  const now = taken ? undefined : await context.tasks.read(intent.task);
  const approval = now && approvalOf(now.task);
  // Another process is answering it, perhaps with this intent. If it dies, the next pass answers.
  if (isSeen && approval !== undefined && !isEnded(now!.state)) return false;
  await context.intents.done(intent.id);
  if (!taken && !isSameAnswer(approval?.answer, intent.answer))
    record(context, 'intent.refused', {
      task: intent.task,
      cause: intent.id,
      kind: 'answer',
      why:
        wanted === undefined || isSeen
          ? 'no open approval has this id'
          : 'it was not signed by this user for what was seen; the request still waits',
    });
  return taken;
}

function isOurs(
  { consent }: EngineContext,
  { request }: Approval,
  { task, seen, answer }: Intent & { kind: 'answer' },
): boolean {
  return request.digest === seen && consent.isSigned({ task, digest: seen, answer }, answer.signature);
}

/** A question needs words, and an approval needs none. */
function misfit({ request: { question } }: Approval, { approved, text }: Omit<Answer, 'at'>): string | undefined {
  if (question === undefined) return text === undefined ? undefined : 'it is not a question';
  if (!approved) return undefined;
  const given = answerIn(question, text ?? '');
  return 'wrong' in given ? given.wrong : undefined;
}

/** True if another process has carried out the intent. */
function isSameAnswer(given: Answer | undefined, wanted: Answer): boolean {
  return given !== undefined && isDeepStrictEqual(given, JSON.parse(JSON.stringify(wanted)));
}

/** A parked task becomes pending, so that its next turn starts with the message. */
async function tell(context: EngineContext, intent: Intent & { kind: 'tell' }, nudged: Set<string>): Promise<boolean> {
  const target = context.tasks.getOpen(intent.task);
  if (target === undefined) {
    // The task may have read the message and ended since the intents were listed; then it is not
    // refused.
    if (!(await context.intents.list()).some(({ id }) => id === intent.id)) return false;
    return (await hasEnded(context, intent.task)) && followUp(context, intent);
  }
  // Once is enough: a task that still waits for others parks again and reads the message later.
  if (target.state !== 'waiting' || nudged.has(intent.id)) return false;
  nudged.add(intent.id);
  const claim = await context.tasks.claim(intent.task, target.task.to ?? 'nobody');
  return claim !== undefined && (await context.tasks.release(claim, claim.task));
}

/** A message to an ended task continues its conversation. People and mail do that, not agents. */
async function followUp(
  context: EngineContext,
  { id, task, text, by, at, taint, continues }: Intent & { kind: 'tell' },
): Promise<boolean> {
  const ended = by === HUMAN || continues ? await context.tasks.read(task) : undefined;
  // Cancelling a task also drops the messages that it had not read.
  const isDropped = ended?.task.error?.code === 'cancelled' && (ended.task.ended_at ?? '') > at;
  const made =
    ended === undefined || isDropped
      ? problem('not_found', isDropped ? 'the task was cancelled before it read this' : 'no open task has this id')
      : await createFollowUp(
          context,
          ended,
          defined({
            id: continues ? id : `task_${id}`,
            text,
            by,
            at,
            type: continues ? 'message' : undefined,
            context: taint === undefined ? undefined : { taint: [...taint, ...taintIn(ended.task)] },
          }),
        );
  await context.intents.done(id);
  if (made !== undefined && 'code' in made) {
    record(context, 'intent.refused', { task, cause: id, kind: 'tell', why: made.message });
    return false;
  }
  record(context, 'intent.taken', { task, cause: id, kind: 'tell' });
  if (made !== undefined) record(context, 'task.created', { task: made.id, agent: made.to!, cause: id, follows: task });
  return made !== undefined;
}

function taintIn({ context }: Task): string[] {
  return Array.isArray(context['taint']) ? context['taint'].map(String) : [];
}
