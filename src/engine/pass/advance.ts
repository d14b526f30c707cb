/** Advances one task as far as possible: claim, guards, act. */
import { INTERVALS } from '../../domain/intervals.js';
import { lineageFields } from '../../domain/task/lineage.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { UnreadableConversation } from '../conversation/conversation.js';
import { resolveAssignee } from '../core/assignee.js';
import { record, type EngineContext } from '../core/context.js';
import { acting } from '../staffing/trial.js';
import { park } from '../tasks/settle.js';
import { act } from './act.js';
import { CLAIM_GUARDS, firstGuard, WORK_GUARDS, type Claimed, type Started } from './guards.js';

/**
 * False if nothing moved, for example because another peer was faster. `here`: other tasks of the
 * same agent in this process. Throws only on a disk failure or a bug; recovery then takes the
 * claim.
 */
export async function advance(context: EngineContext, task: Task, stop: AbortSignal, here = 0): Promise<boolean> {
  const assignee = resolveAssignee(context, task);
  const name = 'agent' in assignee ? assignee.agent : 'nobody';
  const claim = await context.tasks.claim(task.id, name);
  if (claim === undefined) return false;
  const claimed: Claimed = { claim, assignee, name, here };
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
    if (!(thrown instanceof UnreadableConversation)) throw thrown;
    await parkUnreadable(context, claim, started.task, thrown);
  }
  return true;
}

async function start(context: EngineContext, claimed: Claimed, stop: AbortSignal): Promise<Started> {
  const task = taken(context, claimed.claim);
  const agent = context.agents.all().get(claimed.name);
  return { ...claimed, task, agent: agent && (await acting(context, task, agent)), stop };
}

/** The record for its new assignee, without the fields of an earlier end. */
function taken(context: EngineContext, claim: Claim): Task {
  const { error: _, result: __, ended_at: ___, waits: ____, certificate: _____, ...rest } = claim.task;
  return {
    ...rest,
    to: rest.to ?? claim.agent,
    claimed_by: claim.agent,
    claimed_at: rest.claimed_at ?? context.clock.now().toISOString(),
  };
}

async function parkUnreadable(
  context: EngineContext,
  claim: Claim,
  task: Task,
  { session, problem: why, stamp }: UnreadableConversation,
): Promise<void> {
  context.watchers.problem(why);
  record(context, 'file.held', { task: task.id, problem: why });
  const until = new Date(context.clock.now().getTime() + INTERVALS.unreadableCheckMs).toISOString();
  const file = why.where?.file;
  await park(context, claim, { ...task, session }, { until, ...(file === undefined ? {} : { file }) });
  // A conversation whose file is gone starts over, so only an existing one is skipped.
  if (stamp !== undefined) context.unreadable.add(task.id, session, stamp);
}
