/** Moves one task as far as it can go now: claims it, asks the rules, and does what they say. */
import { isChoosing } from '../../rules/patterns/router.js';
import type { Agent } from '../../domain/agent/agent.js';
import { standing } from '../../domain/task/lineage.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { roleFacts } from '../../domain/task/role.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import { messagesOf } from '../../domain/session/session.js';
import type { Claim } from '../../ports/store/tasks.js';
import { decide, tooDeep } from '../../rules/patterns/decide.js';
import { errorText, gather } from '../../rules/patterns/gather.js';
import { outline, sessionText } from '../../rules/patterns/outline.js';
import { grantEach, keptFor, purse } from '../../rules/budget/remaining.js';
import { askRule } from '../core/ask-rule.js';
import { isCalledOff } from '../tasks/cancelled.js';
import { runAgentLoop } from '../conversation/agent-loop.js';
import { HeldConversation } from '../conversation/conversation.js';
import { createChildren } from '../tasks/create-children.js';
import { complete, fail, park, putBack, rest } from '../tasks/settle.js';
import { endStopped } from '../tasks/settle-stopped.js';
import { HELD_MS } from '../conversation/unreadable.js';
import { assigneeName, resolveAssignee } from '../core/assignee.js';
import { advanceNeed, isNeed } from '../coordination/needs.js';
import { isOfferOver, offer, offerOver, unfilled } from '../staffing/offer.js';
import { stopReason } from '../core/flight.js';
import { hasPlace, isOverfull } from '../core/overfull.js';
import { record, type EngineContext } from '../core/context.js';
import { acting } from '../staffing/trial.js';
import { costsOf, subtasks } from '../tasks/costs.js';
import { takesTurn } from './runnable.js';
import { quoted } from '../core/quote.js';
import { taintedBy } from '../conversation/taint.js';
import { showTranscript } from '../coordination/team-transcript.js';

/**
 * False if another peer was faster. `here`: how many other tasks of the same agent this process has in hand. Throws only when the disk fails or there is a bug; the
 * claim is then left behind for recovery.
 */
export async function advance(context: EngineContext, task: Task, stop: AbortSignal, here = 0): Promise<boolean> {
  const taker = resolveAssignee(context, task);
  const name = 'agent' in taker ? taker.agent : 'nobody';
  const claim = await context.tasks.claim(task.id, name);
  if (claim === undefined) return false;
  // Checked under the claim: whoever cancels it may have ended what it waited for since this process looked.
  if (await isCalledOff(context, claim.task)) {
    await context.tasks.release(claim, claim.task);
    return false;
  }
  // The record may have changed between the decision and the claim: the next pass decides again.
  if ('agent' in taker && assigneeName(context, claim.task) !== name) {
    await context.tasks.release(claim, claim.task);
    return true;
  }
  if ('agent' in taker && (await isOverfull(context, claim, here))) {
    await context.tasks.release(claim, claim.task);
    await context.lookAgain();
    return hasPlace(context, name, here);
  }
  if ('offer' in taker) {
    await weigh(context, claim);
    return true;
  }
  const why = 'why' in taker ? { why: taker.why } : {};
  record(context, 'task.claimed', { task: task.id, agent: name, from: claim.from, ...standing(task), ...why });
  const mine = taken(context, claim);
  if ('problem' in taker) {
    await unfilled(context, claim, mine, taker.problem);
    return true;
  }
  if (isNeed(mine)) {
    await advanceNeed(context, claim, mine, stop);
    return true;
  }
  const known = context.agents.all().get(name);
  const agent = known && (await acting(context, mine, known));
  if (agent === undefined) {
    await fail(context, claim, mine, unknownAgent(context, name));
    return true;
  }
  if (await isOfferOver(context, mine)) {
    await fail(context, claim, mine, offerOver());
    return true;
  }
  const fault = context.agents.fault(name);
  // Somebody who is missing in the middle of the work may be back at once: editors write a file by taking it away.
  if (fault !== undefined && (fault.code !== 'unknown_agent' || claim.task.claimed_at === undefined)) {
    await fail(context, claim, mine, fault);
    return true;
  }
  if (!(await takesTurn(context, mine, agent))) {
    await putBack(context, claim, claim.task, 'another task has its turn in the shared conversation');
    return false;
  }
  try {
    await act(context, claim, mine, agent, stop);
  } catch (thrown) {
    if (!(thrown instanceof HeldConversation)) throw thrown;
    await holdUp(context, claim, mine, thrown);
  }
  return true;
}

async function holdUp(
  context: EngineContext,
  claim: Claim,
  task: Task,
  { session, problem: why, stamp }: HeldConversation,
): Promise<void> {
  context.watchers.problem(why);
  record(context, 'file.held', { task: task.id, problem: why });
  const until = new Date(context.clock.now().getTime() + HELD_MS).toISOString();
  const file = why.where?.file;
  await park(context, claim, { ...task, session }, { until, ...(file === undefined ? {} : { file }) });
  if (stamp !== undefined) context.unreadable.add(task.id, session, stamp); // one that is gone is begun anew
}

/** A task for which several agents bid. A person may have changed it meanwhile, so it is looked at as it is now. */
async function weigh(context: EngineContext, claim: Claim): Promise<void> {
  const taker = resolveAssignee(context, claim.task);
  if (!('offer' in taker)) return putBack(context, claim, claim.task, 'it is for one agent now');
  const { waits: _, error: __, result: ___, ended_at: ____, ...task } = claim.task;
  const blocked = tooDeep(task, context.config.limits) ?? (await failedDependency(context, task));
  return blocked ? fail(context, claim, task, blocked) : offer(context, claim, task, taker.offer);
}

async function act(context: EngineContext, claim: Claim, task: Task, agent: Agent, stop: AbortSignal): Promise<void> {
  const blocked = await failedDependency(context, task);
  if (blocked) return fail(context, claim, task, blocked);
  const { step: decision, children } = await askRule(
    (known) => decide(task, agent, known, context.config.limits),
    (step) => (step.do === 'ask' ? step.children : []),
    (id) => readChild(context, claim, agent, id),
  );
  const under = await subtasks(context, task);
  const costs = costsOf(NO_USAGE, [...children.values(), ...under]);
  switch (decision.do) {
    case 'run':
      return runAgentLoop(context, claim, task, agent, stop);
    case 'fail':
      return fail(context, claim, task, decision.error, costs);
    case 'resolve':
      return complete(context, claim, taintedBy(task, children.values()), unquoted(decision.result, children), costs);
    case 'ask': {
      const stopped = stopReason(stop);
      if (stopped === 'leaving') return putBack(context, claim, task, 'the process is stopping');
      if (stopped !== undefined) return endStopped(context, claim, task, stopped, costs);
      const { missing, open } = gather(decision.children, children);
      if (missing.length > 0) await showTranscript(context, task, agent, children);
      const granted = grant(context, task, agent, missing, [
        ...children.values(),
        ...under.filter((one) => roleFacts(one.task.role).isBid),
      ]);
      if ('code' in granted) return fail(context, claim, task, granted, costs);
      const made = await createChildren(context, taintedBy(task, children.values()), granted);
      const tasks = [...open, ...missing.map((child) => child.id)];
      // Who takes it is kept with its first rest, if it was addressed to nobody; and so is the end of a row of takers who died with it. One that
      // could neither be read nor made is named: while its file cannot be read, nothing else says whose part it is.
      const isKept = claim.task.to !== undefined && claim.task.lost === undefined && made.length === granted.length;
      return isKept && decision.children.every(({ role }) => roleFacts(role).isStage)
        ? rest(context, claim, task, tasks, costs)
        : park(context, claim, task, { tasks }, costs);
    }
  }
}

/** With what the rule passes on of it. */
async function readChild(context: EngineContext, claim: Claim, agent: Agent, id: string): Promise<Placed | undefined> {
  const placed = await withWords(context, agent, await context.tasks.readChild(id, claim));
  return placed && withShortResult(context, agent, placed);
}

/** What goes into the prompt of another is quoted where it is long. */
async function withShortResult(context: EngineContext, agent: Agent, placed: Placed): Promise<Placed> {
  const { task } = placed;
  const isText = roleFacts(task.role).resultIsQuoted && !isChoosing(task, agent);
  if (!isText || task.result === undefined) return placed;
  const result = await quoted(context, task.result);
  return result === task.result ? placed : { ...placed, task: { ...task, result }, whole: task.result };
}

/** The result of the last stage is passed on to people as it is. */
function unquoted(result: string, children: ReadonlyMap<string, Placed | undefined>): string {
  for (const child of children.values())
    if (child?.whole !== undefined && child.task.result === result) return child.whole;
  return result;
}

/** A handoff that passes on more than the answer needs the conversation behind it. */
async function withWords(
  context: EngineContext,
  agent: Agent,
  placed: Placed | undefined,
): Promise<Placed | undefined> {
  const wants = agent.handoff !== undefined && (agent.context === 'full' || agent.context === 'summary');
  if (placed?.task.session === undefined || !wants || !roleFacts(placed.task.role).passesConversation) return placed;
  const opened = await context.sessions.open(placed.task.session);
  const messages = opened.kind === 'open' ? messagesOf(opened.session, placed.task.id) : undefined;
  if (messages === undefined) return placed;
  const words = agent.context === 'full' ? sessionText(messages) : outline(messages);
  return { ...placed, said: await quoted(context, words, context.config.limits.maxTaskBytes / 4) };
}

/** The missing children, each with its share of what the task has left; why there can be none. */
function grant(
  context: EngineContext,
  task: Task,
  agent: Agent,
  missing: WantedChild[],
  known: readonly (Placed | undefined)[],
): WantedChild[] | Problem {
  const children = known.flatMap((child) => child ?? []);
  const from = purse({ task, agent, config: context.config, own: NO_USAGE, children });
  return grantEach(from, missing, ({ role }) => keptFor(agent, role, missing.length));
}

/** The record as its new taker sees it: what an earlier end left in it is gone. */
function taken(context: EngineContext, claim: Claim): Task {
  const { error: _, result: __, ended_at: ___, waits: ____, certificate: _____, ...rest } = claim.task;
  return {
    ...rest,
    to: rest.to ?? claim.agent,
    claimed_by: claim.agent,
    claimed_at: rest.claimed_at ?? context.clock.now().toISOString(),
  };
}

async function failedDependency(context: EngineContext, task: Task): Promise<Problem | undefined> {
  for (const id of task.dependencies) {
    const found = await context.tasks.read(id);
    if (found?.state === 'failed' && found.task.error?.code !== 'by_hand') {
      return problem('dependency_failed', `it depends on ${id}, which failed: ${errorText(found.task.error)}`, {
        hint: `retry ${id}, then this task`,
      });
    }
  }
  return undefined;
}

function unknownAgent(context: EngineContext, name: string): Problem {
  const wrong = context.agents.unreadable?.().get(name);
  if (wrong !== undefined)
    return {
      ...wrong,
      message: `the file of ${name} cannot be read: ${wrong.message}`,
      hint: 'mend it, then retry the task',
    };
  const known = [...context.agents.all().keys()].sort().join(', ') || 'none';
  return problem('unknown_agent', `there is no agent ${name}; the agents are: ${known}`, {
    hint: `write agents/${name}.md, or change "to" in the task's file; then guild task retry`,
  });
}
