/**
 * Advances one task as far as possible: claim, guards, act. An error on the way ends only this
 * task, with the reason. Only a fault of the store is thrown to the caller.
 */
import { defined } from '../../domain/defined.js';
import { isStoreFault } from '../../domain/fence.js';
import { INTERVALS } from '../../domain/intervals.js';
import { diskReason, problem } from '../../domain/problem.js';
import { sessionId } from '../../domain/session/session-id.js';
import { lineageFields } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { UnreadableConversation } from '../conversation/conversation.js';
import { resolveAssignee } from '../core/assignee.js';
import { claimLimit } from '../core/capacity.js';
import { record, type EngineContext } from '../core/context.js';
import { faultProblem, isContained } from '../core/fence.js';
import { acting } from '../staffing/trial.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { fail, park } from '../tasks/settle.js';
import { act } from './act.js';
import { CLAIM_GUARDS, firstGuard, WORK_GUARDS, type Claimed, type Started } from './guards.js';

/**
 * False if nothing moved, for example because another peer was faster. `here`: other tasks of the
 * same agent in this process. Throws only if the store fails; recovery then takes the claim.
 */
export async function advance(context: EngineContext, task: Task, stop: AbortSignal, here = 0): Promise<boolean> {
  let claim: Claim | undefined;
  try {
    const assignee = resolveAssignee(context, task);
    const name = 'agent' in assignee ? assignee.agent : 'nobody';
    claim = await context.tasks.claim(task.id, name, claimLimit(context, name));
    return claim !== undefined && (await work(context, { claim, assignee, name, here }, stop));
  } catch (thrown) {
    if (!isContained(thrown)) throw thrown;
    claim ??= await context.tasks.claim(task.id, 'nobody');
    if (claim !== undefined) await failFor(context, claim, thrown);
    return claim !== undefined;
  }
}

/** Fails the task with the reason. Its costs are unknown if its conversation caused the error. */
async function failFor(context: EngineContext, claim: Claim, thrown: unknown): Promise<void> {
  const error = faultProblem(thrown, 'only this task stopped');
  context.watchers.problem({ ...error, message: `${claim.task.id}: ${error.message}` });
  const costs = await costsAtRest(context, claim.task).catch((again: unknown) => {
    if (isStoreFault(again)) throw again;
    return undefined;
  });
  await fail(context, claim, claim.task, error, costs);
}

async function work(context: EngineContext, claimed: Claimed, stop: AbortSignal): Promise<boolean> {
  const { claim, assignee, name } = claimed;
  const { task } = claim;
  const release = await firstGuard(CLAIM_GUARDS, context, claimed);
  if (release !== undefined) return release === 'moved';
  const why = 'why' in assignee ? { why: assignee.why } : {};
  record(context, 'task.claimed', { task: task.id, agent: name, from: claim.from, ...lineageFields(task), ...why });
  const started = await start(context, claimed, stop);
  const ended = await firstGuard(WORK_GUARDS, context, started);
  if (ended !== undefined) return ended === 'moved';
  try {
    await act(context, claim, started.task, started.agent!, stop);
  } catch (thrown) {
    const held = thrown instanceof UnreadableConversation ? thrown : await deniedConversation(context, started, thrown);
    if (held === undefined) throw thrown;
    await parkUnreadable(context, claim, started.task, held);
  }
  return true;
}

/**
 * The store works, but the system denies access to the file of this conversation, for example
 * because another user owns it.
 */
async function deniedConversation(
  context: EngineContext,
  { task, agent }: Started,
  thrown: unknown,
): Promise<UnreadableConversation | undefined> {
  const { code = '', path: file = '' } = thrown as { code?: string; path?: string };
  const id = sessionId(task, agent!);
  const name = `${id}.session.yaml`;
  if (!DENIED.has(code) || !file.endsWith(`/${name}`)) return undefined;
  const why = problem('bad_file', `sessions/${name} cannot be written: ${diskReason(thrown)}`, {
    where: { file: `sessions/${name}` },
    hint: 'fix its permissions; the task continues when it can be written',
  });
  return new UnreadableConversation(id, why, await context.sessions.stamp(id));
}

const DENIED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EISDIR', 'ELOOP']);

async function start(context: EngineContext, claimed: Claimed, stop: AbortSignal): Promise<Started> {
  const task = taken(context, claimed.claim);
  const agent = context.agents.all().get(claimed.name);
  return { ...claimed, task, agent: agent && (await acting(context, task, agent)), stop };
}

/** The record for its new assignee, without the fields of an earlier end. */
function taken(context: EngineContext, { task, agent }: Claim): Task {
  const isFirst = task.to === undefined || task.claimed_by !== agent || task.claimed_at === undefined;
  // The record of a parent that continues after its stages needs no change.
  if (!isFirst && OF_AN_END.every((field) => task[field] === undefined)) return task;
  const { error: _, result: __, ended_at: ___, waits: ____, certificate: _____, ...rest } = task;
  return {
    ...rest,
    to: rest.to ?? agent,
    claimed_by: agent,
    claimed_at: rest.claimed_at ?? context.clock.now().toISOString(),
  };
}

const OF_AN_END = ['error', 'result', 'ended_at', 'waits', 'certificate'] as const;

async function parkUnreadable(
  context: EngineContext,
  claim: Claim,
  task: Task,
  { session, problem: why, stamp }: UnreadableConversation,
): Promise<void> {
  const until = new Date(context.clock.now().getTime() + INTERVALS.unreadableCheckMs).toISOString();
  const file = why.where?.file;
  await park(context, claim, { ...task, session }, defined({ until, file }));
  context.watchers.problem(why);
  if (context.heldFiles.isNews(why)) record(context, 'file.held', { task: task.id, problem: why });
  // A conversation whose file is gone starts over, so only an existing one is skipped.
  if (stamp !== undefined) context.unreadable.add(task.id, session, stamp);
}
