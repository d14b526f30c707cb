/** Works on a claimed task: asks the rule of its pattern for the next step and performs it. */
import type { Agent } from '../../domain/agent/agent.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import { problem, type Problem } from '../../domain/problem.js';
import { messagesOf } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { grantEach, keptFor, remainingBudget } from '../../rules/budget/remaining.js';
import { decide } from '../../rules/patterns/decide.js';
import { errorText, gather } from '../../rules/patterns/gather.js';
import { outline, sessionText } from '../../rules/patterns/outline.js';
import { isChoosing } from '../../rules/patterns/router.js';
import { runAgentLoop } from '../conversation/agent-loop.js';
import { taintedBy } from '../conversation/taint.js';
import { showTranscript } from '../coordination/team-transcript.js';
import { askRule } from '../core/ask-rule.js';
import type { EngineContext } from '../core/context.js';
import { stopReason } from '../core/flight.js';
import { quoted } from '../core/quote.js';
import { costsOf, subtasks } from '../tasks/costs.js';
import { createChildren } from '../tasks/create-children.js';
import { complete, fail, park, parkForChildren, release, settleStopped } from '../tasks/settle.js';

export async function act(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agent: Agent,
  stop: AbortSignal,
): Promise<void> {
  const blocked = await failedDependency(context, task);
  if (blocked) return fail(context, claim, task, blocked);
  const { step: decision, children } = await askRule(
    (existing) => decide(task, agent, existing, context.config.limits),
    (step) => (step.do === 'ask' ? step.children : []),
    (id) => readChild(context, claim, agent, id),
  );
  const below = await subtasks(context, task);
  const costs = costsOf(NO_USAGE, [...children.values(), ...below]);
  switch (decision.do) {
    case 'run':
      return runAgentLoop(context, claim, task, agent, stop);
    case 'fail':
      return fail(context, claim, task, decision.error, costs);
    case 'resolve':
      return complete(context, claim, taintedBy(task, children.values()), fullResult(decision.result, children), costs);
    case 'ask': {
      const stopped = stopReason(stop);
      if (stopped === 'leaving') return release(context, claim, task, 'it was stopped');
      if (stopped !== undefined) return settleStopped(context, claim, task, stopped, costs);
      const { missing, open } = gather(decision.children, children);
      if (missing.length > 0) await showTranscript(context, task, agent, children);
      const granted = grant(context, task, agent, missing, [
        ...children.values(),
        ...below.filter((placed) => roleFacts(placed.task.role).isBid),
      ]);
      if ('code' in granted) return fail(context, claim, task, granted, costs);
      const created = await createChildren(context, taintedBy(task, children.values()), granted);
      const tasks = [...open, ...missing.map((child) => child.id)];
      // A wait for stages need not be written if nothing else changed, unless a child could neither
      // be read nor created: then only this record shows whose child it is.
      const isUnchanged =
        claim.task.to !== undefined && claim.task.lost === undefined && created.length === granted.length;
      return isUnchanged && decision.children.every(({ role }) => roleFacts(role).isStage)
        ? parkForChildren(context, claim, task, tasks, costs)
        : park(context, claim, task, { tasks }, costs);
    }
  }
}

/** A child with the text that the rule passes on. */
async function readChild(context: EngineContext, claim: Claim, agent: Agent, id: string): Promise<Placed | undefined> {
  const placed = await withConversation(context, agent, await context.tasks.readChild(id, claim));
  return placed && withShortResult(context, agent, placed);
}

/** Results that go into another prompt are shortened if they are long. */
async function withShortResult(context: EngineContext, agent: Agent, placed: Placed): Promise<Placed> {
  const { task } = placed;
  const isText = roleFacts(task.role).resultIsQuoted && !isChoosing(task, agent);
  if (!isText || task.result === undefined) return placed;
  const result = await quoted(context, task.result);
  return result === task.result ? placed : { ...placed, task: { ...task, result }, fullResult: task.result };
}

/** People get the result of the last stage in full. */
function fullResult(result: string, children: ReadonlyMap<string, Placed | undefined>): string {
  for (const child of children.values())
    if (child?.fullResult !== undefined && child.task.result === result) return child.fullResult;
  return result;
}

/** Adds the conversation if a handoff passes on more than the answer. */
async function withConversation(
  context: EngineContext,
  agent: Agent,
  placed: Placed | undefined,
): Promise<Placed | undefined> {
  const isWanted = agent.handoff !== undefined && (agent.context === 'full' || agent.context === 'summary');
  if (placed?.task.session === undefined || !isWanted || !roleFacts(placed.task.role).passesConversation) return placed;
  const opened = await context.sessions.open(placed.task.session);
  const messages = opened.kind === 'open' ? messagesOf(opened.session, placed.task.id) : undefined;
  if (messages === undefined) return placed;
  const text = agent.context === 'full' ? sessionText(messages) : outline(messages);
  return { ...placed, conversation: await quoted(context, text, context.config.limits.maxTaskBytes / 4) };
}

/** The missing children, each with its share of the budget, or why none can be created. */
function grant(
  context: EngineContext,
  task: Task,
  agent: Agent,
  missing: WantedChild[],
  existing: readonly (Placed | undefined)[],
): WantedChild[] | Problem {
  const children = existing.flatMap((child) => child ?? []);
  const from = remainingBudget({ task, agent, config: context.config, own: NO_USAGE, children });
  return grantEach(from, missing, ({ role }) => keptFor(agent, role, missing.length));
}

export async function failedDependency(context: EngineContext, task: Task): Promise<Problem | undefined> {
  for (const id of task.dependencies) {
    const dependency = await context.tasks.read(id);
    if (dependency?.state === 'failed' && dependency.task.error?.code !== 'by_hand') {
      return problem('dependency_failed', `it depends on ${id}, which failed: ${errorText(dependency.task.error)}`, {
        hint: `retry ${id}, then this task`,
      });
    }
  }
  return undefined;
}
