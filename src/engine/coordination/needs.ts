/**
 * Advances dependencies and help requests. No agent works on them: the process that holds the claim
 * asks the rule for the next step and performs it. All state is in records.
 */
import { roleFacts } from '../../domain/task/role.js';
import {
  dependencyOf,
  printResolution,
  type Dependency,
  type Resolution,
} from '../../domain/coordination/dependency.js';
import { helpOf, type Help } from '../../domain/coordination/help.js';
import { problem, type Problem } from '../../domain/problem.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { helpStep } from '../../rules/coordination/help.js';
import { needStep, type NeedStep } from '../../rules/coordination/needs.js';
import { grantEach, remainingBudget } from '../../rules/budget/remaining.js';
import { costsOf, type Costs } from '../tasks/costs.js';
import { createChildren } from '../tasks/create-children.js';
import { complete, fail, park, release, settleStopped } from '../tasks/settle.js';
import { stopReason } from '../core/flight.js';
import { helpFacts, needFacts } from './needs-facts.js';
import { publishAward, publishHelp, publishNeed, publishResolution, publishVolunteer } from './needs-notes.js';
import { needChildren } from '../core/need-children.js';
import { record, type EngineContext } from '../core/context.js';
import { quoted } from '../core/quote.js';

export function isNeed({ role }: Pick<Task, 'role'>): boolean {
  return roleFacts(role).need !== undefined;
}

export async function advanceNeed(context: EngineContext, claim: Claim, task: Task, stop: AbortSignal): Promise<void> {
  const children = await needChildren(context, task);
  const costs = costsOf(NO_USAGE, children.values());
  const stopped = stopReason(stop);
  if (stopped === 'leaving') return release(context, claim, task, 'it was stopped', costs);
  if (stopped !== undefined) return settleStopped(context, claim, task, stopped, costs);
  const asker = task.parent === undefined ? undefined : await context.tasks.read(task.parent);
  if (asker === undefined || isEnded(asker.state)) return fail(context, claim, task, askerEnded(), costs);
  const dependency = dependencyOf(task);
  const help = helpOf(task);
  const isNew = claim.task.claimed_at === undefined;
  if (dependency !== undefined) {
    if (isNew) await announce(context, task, dependency);
    const facts = await needFacts(context, task, dependency, asker.task, children);
    const now = context.clock.now().toISOString();
    return perform(context, claim, task, needStep({ task, dependency, children, facts, now }), children, costs);
  }
  if (help === undefined) return fail(context, claim, task, unreadable(task), costs);
  if (isNew) await callForHelp(context, task, help);
  const step = helpStep(await helpFacts(context, task, help, asker.task, children));
  if (step.escalated !== undefined)
    record(context, 'help.escalated', {
      task: task.id,
      agent: step.escalated,
      why: 'why' in step ? step.why : undefined,
    });
  return perform(context, claim, task, step, children, costs);
}

type Children = ReadonlyMap<string, Placed | undefined>;

async function perform(
  context: EngineContext,
  claim: Claim,
  task: Task,
  step: NeedStep,
  children: Children,
  costs: Costs,
): Promise<void> {
  switch (step.do) {
    case 'resolve':
      await publishEnd(context, task, step.resolution);
      return complete(context, claim, task, printResolution(await shortened(context, step.resolution)), costs);
    case 'fail':
      await publishEnd(context, task, { status: 'failed', provider: 'nobody', data: step.error.message }, step.error);
      return fail(context, claim, task, step.error, costs);
    case 'wait': {
      const { tasks, until } = step;
      return park(context, claim, task, { tasks, until }, costs);
    }
    case 'cancel':
      for (const id of step.children) await cancelLate(context, id, step.why);
      return park(context, claim, task, { tasks: step.children }, costs);
    case 'ask': {
      const refused = children.get(step.child.id) === undefined && (await ask(context, task, step, children));
      if (refused) return fail(context, claim, task, refused, costs);
      const waits = { tasks: [step.child.id], until: step.until };
      return park(context, claim, task, waits, costs);
    }
  }
}

/** Long data becomes a quote before it is part of a text that programs read. */
async function shortened(context: EngineContext, resolution: Resolution): Promise<Resolution> {
  if (resolution.data === undefined) return resolution;
  return { ...resolution, data: await quoted(context, resolution.data, context.config.limits.maxResultBytes / 2) };
}

/** Creates the child within the budget. Returns the reason if it cannot. */
async function ask(
  context: EngineContext,
  task: Task,
  { child, why }: NeedStep & { do: 'ask' },
  children: Children,
): Promise<Problem | undefined> {
  const existing = [...children.values()].flatMap((child) => child ?? []);
  const from = remainingBudget({
    task,
    agent: { budget: {} },
    config: context.config,
    own: NO_USAGE,
    children: existing,
  });
  const granted = grantEach(from, [child], ({ role }) => (roleFacts(role).isProvision ? 0 : 1));
  if ('code' in granted) return granted;
  const [created] = await createChildren(context, task, granted);
  if (created === undefined || !roleFacts(created.role).isProvision) return undefined;
  record(context, 'task.awarded', { task: task.id, agent: created.to, why });
  if (roleFacts(task.role).need === 'help') await publishVolunteer(context, task, created.to!, why);
  else await publishAward(context, task, created.to!, why);
  return undefined;
}

/** Submits a cancel intent once; it reaches the process that holds the task. */
async function cancelLate(context: EngineContext, id: string, reason: string): Promise<void> {
  const at = context.clock.now().toISOString();
  if ((await context.intents.list()).some((intent) => intent.id === `late-${id}`)) return;
  await context.intents.submit({ kind: 'cancel', id: `late-${id}`, task: id, reason, by: 'engine', at });
}

async function announce(context: EngineContext, task: Task, dependency: Dependency): Promise<void> {
  const { type, urgency, deadline } = dependency;
  record(context, 'dependency.requested', {
    task: task.id,
    agent: task.from,
    type,
    urgency,
    deadline,
  });
  await publishNeed(context, task, dependency);
}

async function callForHelp(context: EngineContext, task: Task, help: Help): Promise<void> {
  const { kind, capabilities } = help;
  record(context, 'help.requested', { task: task.id, agent: task.from, kind, capabilities });
  await publishHelp(context, task, help);
}

async function publishEnd(context: EngineContext, task: Task, resolution: Resolution, error?: Problem): Promise<void> {
  const { status, provider } = resolution;
  if (roleFacts(task.role).need === 'dependency') {
    record(context, 'dependency.resolved', { task: task.id, agent: provider, status, error });
    await publishResolution(context, task, resolution);
  } else if (error === undefined) record(context, 'help.given', { task: task.id, agent: provider, status });
}

function askerEnded(): Problem {
  return problem('cancelled', 'the task that asked for it has ended');
}

function unreadable(task: Task): Problem {
  return problem('bad_field', `task ${task.id} does not say what is needed`, { hint: 'ask again in a new task' });
}
