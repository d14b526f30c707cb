/**
 * Dependencies and help: tasks that nobody does. Whoever has the claim asks the rule what is still needed and does it: lets others provide,
 * waits, or passes on what they gave. Any process may do so, and whoever looks next goes on from the records.
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
import { complete, fail, park, release } from '../tasks/settle.js';
import { settleStopped } from '../tasks/settle.js';
import { stopReason } from '../core/flight.js';
import { helpFacts, needFacts } from './needs-facts.js';
import { tellAward, tellHelp, tellVolunteer, tellNeed, tellResolved } from './needs-notes.js';
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
  if (stopped === 'leaving') return release(context, claim, task, 'the process is stopping', costs);
  if (stopped !== undefined) return settleStopped(context, claim, task, stopped, costs);
  const asker = task.parent === undefined ? undefined : await context.tasks.read(task.parent);
  if (asker === undefined || isEnded(asker.state)) return fail(context, claim, task, nobodyAsks(), costs);
  const dependency = dependencyOf(task);
  const help = helpOf(task);
  const isNew = claim.task.claimed_at === undefined;
  if (dependency !== undefined) {
    if (isNew) await announce(context, task, dependency);
    const facts = await needFacts(context, task, dependency, asker.task, children);
    const now = context.clock.now().toISOString();
    return carryOn(context, claim, task, needStep({ task, dependency, children, facts, now }), children, costs);
  }
  if (help === undefined) return fail(context, claim, task, unreadable(task), costs);
  if (isNew) await callForHelp(context, task, help);
  const step = helpStep(await helpFacts(context, task, help, asker.task, children));
  if (step.escalated !== undefined)
    record(context, 'help.escalated', {
      task: task.id,
      agent: step.escalated,
      ...('why' in step ? { why: step.why } : {}),
    });
  return carryOn(context, claim, task, step, children, costs);
}

type Known = ReadonlyMap<string, Placed | undefined>;

async function carryOn(
  context: EngineContext,
  claim: Claim,
  task: Task,
  step: NeedStep,
  children: Known,
  costs: Costs,
): Promise<void> {
  switch (step.do) {
    case 'resolve':
      await tellEnd(context, task, step.resolution);
      return complete(context, claim, task, printResolution(await shortened(context, step.resolution)), costs);
    case 'fail':
      await tellEnd(context, task, { status: 'failed', provider: 'nobody', data: step.error.message }, step.error);
      return fail(context, claim, task, step.error, costs);
    case 'wait': {
      const { tasks, until } = step;
      return park(context, claim, task, { ...(tasks ? { tasks } : {}), ...(until ? { until } : {}) }, costs);
    }
    case 'cancel':
      for (const id of step.children) await callOff(context, id, step.why);
      return park(context, claim, task, { tasks: step.children }, costs);
    case 'ask': {
      const refused = children.get(step.child.id) === undefined && (await ask(context, task, step, children));
      if (refused) return fail(context, claim, task, refused, costs);
      const waits = { tasks: [step.child.id], ...(step.until ? { until: step.until } : {}) };
      return park(context, claim, task, waits, costs);
    }
  }
}

/** Long data are quoted before they become part of a text that programs read. */
async function shortened(context: EngineContext, resolution: Resolution): Promise<Resolution> {
  if (resolution.data === undefined) return resolution;
  return { ...resolution, data: await quoted(context, resolution.data, context.config.limits.maxResultBytes / 2) };
}

/** Why it could not be asked for, if so. */
async function ask(
  context: EngineContext,
  task: Task,
  { child, why }: NeedStep & { do: 'ask' },
  children: Known,
): Promise<Problem | undefined> {
  const there = [...children.values()].flatMap((one) => one ?? []);
  const from = remainingBudget({ task, agent: { budget: {} }, config: context.config, own: NO_USAGE, children: there });
  const granted = grantEach(from, [child], ({ role }) => (roleFacts(role).isProvision ? 0 : 1));
  if ('code' in granted) return granted;
  const [made] = await createChildren(context, task, granted);
  if (made === undefined || !roleFacts(made.role).isProvision) return undefined;
  record(context, 'task.awarded', { task: task.id, agent: made.to, why });
  if (roleFacts(task.role).need === 'help') await tellVolunteer(context, task, made.to!, why);
  else await tellAward(context, task, made.to!, why);
  return undefined;
}

/** From here it goes as any cancel goes, and reaches whoever holds it. */
async function callOff(context: EngineContext, id: string, reason: string): Promise<void> {
  const at = context.clock.now().toISOString();
  if ((await context.intents.list()).some((intent) => intent.id === `late-${id}`)) return;
  await context.intents.submit({ kind: 'cancel', id: `late-${id}`, task: id, reason, by: 'engine', at });
}

async function announce(context: EngineContext, task: Task, dependency: Dependency): Promise<void> {
  const { type, urgency, deadline } = dependency;
  record(context, 'dependency.requested', {
    task: task.id,
    ...(task.from ? { agent: task.from } : {}),
    type,
    urgency,
    ...(deadline ? { deadline } : {}),
  });
  await tellNeed(context, task, dependency);
}

async function callForHelp(context: EngineContext, task: Task, help: Help): Promise<void> {
  const { kind, capabilities } = help;
  record(context, 'help.requested', { task: task.id, ...(task.from ? { agent: task.from } : {}), kind, capabilities });
  await tellHelp(context, task, help);
}

async function tellEnd(context: EngineContext, task: Task, resolution: Resolution, error?: Problem): Promise<void> {
  const { status, provider } = resolution;
  const why = error === undefined ? {} : { error };
  if (roleFacts(task.role).need === 'dependency') {
    record(context, 'dependency.resolved', { task: task.id, agent: provider, status, ...why });
    await tellResolved(context, task, resolution);
  } else if (error === undefined) record(context, 'help.given', { task: task.id, agent: provider, status });
}

function nobodyAsks(): Problem {
  return problem('cancelled', 'whoever asked for it has ended');
}

function unreadable(task: Task): Problem {
  return problem('bad_field', `${task.id} does not say what is needed`, { hint: 'ask again in a new task' });
}
