/**
 * The guards between the claim of a task and the work on it. The first guard that applies decides,
 * so the order is part of the contract, and each guard states the reason for its position.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { noAgent } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { mayBeCut } from '../../domain/task/id.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { tooDeep } from '../../rules/patterns/decide.js';
import { needsPermit, startPermit } from '../approvals/permit-start.js';
import { advanceNeed, isNeed } from '../coordination/needs.js';
import { assigneeName, resolveAssignee, type Assignee } from '../core/assignee.js';
import type { EngineContext } from '../core/context.js';
import { hasCapacity, hasLimit, isOverCapacity } from '../core/capacity.js';
import { isOfferOver, offer, offerOver, unfilled } from '../staffing/offer.js';
import { isCancelled } from '../tasks/cancelled.js';
import { createChildren } from '../tasks/create-children.js';
import { advanceSchedule } from '../tasks/schedule.js';
import { fail, park, release } from '../tasks/settle.js';
import { failedDependency } from './act.js';
import { lockShared } from './runnable.js';

/** A task that this process has just claimed. */
export interface Claimed {
  claim: Claim;
  assignee: Assignee;
  /** The assignee, or `nobody`. */
  name: string;
  /** Other tasks of the same agent in this process. */
  here: number;
}

/** A claimed task whose claim is recorded. */
export interface Started extends Claimed {
  /** The record, changed for its new assignee. */
  task: Task;
  agent: Agent | undefined;
  stop: AbortSignal;
}

/** `moved`: another look at the open tasks may find more to do. */
export type GuardResult = 'moved' | 'unmoved';

export interface Guard<T> {
  name: string;
  /** Why it is checked at this position. */
  position: string;
  /**
   * Undefined: the guard does not apply. Otherwise the task has left this process. A guard that can
   * tell at once that it does not apply returns synchronously, because every step asks all guards.
   */
  check(context: EngineContext, claimed: T): Promise<GuardResult | undefined> | undefined;
}

/** Guards before the claim is recorded: history does not show a task that they release. */
export const CLAIM_GUARDS: readonly Guard<Claimed>[] = [
  {
    name: 'cancelled',
    position:
      'First: a cancelled task must not be changed, and the canceller can end it only once the claim is released.',
    async check(context, { claim }) {
      if (!(await isCancelled(context, claim.task))) return undefined;
      await context.tasks.release(claim, claim.task);
      return 'unmoved';
    },
  },
  {
    name: 'schedule',
    position:
      'Before everything that starts work: the due times of a schedule create tasks, but nobody works on the schedule itself.',
    check(context, { claim }) {
      if (!roleFacts(claim.task.role).isSchedule) return undefined;
      return moved(advanceSchedule(context, claim));
    },
  },
  {
    name: 'start not approved',
    position: 'Before offers and before the claim is recorded: a task that needs a yes costs nothing until then.',
    check: (context, { claim }) => (needsPermit(claim.task) ? askToStart(context, claim) : undefined),
  },
  {
    name: 'assigned to another agent',
    position: 'Before everything that depends on the agent: the record may have changed before the claim.',
    check(context, { claim, assignee, name }) {
      if (!('agent' in assignee) || assigneeName(context, claim.task) === name) return undefined;
      return moved(context.tasks.release(claim, claim.task));
    },
  },
  {
    name: 'agent without capacity',
    position: 'Under the claim: of two processes that claim at the same time, the later one sees the other.',
    check(context, claimed) {
      const { claim, assignee } = claimed;
      return 'agent' in assignee && hasLimit(context, claim) ? keepLimit(context, claimed) : undefined;
    },
  },
  {
    name: 'offered to several agents',
    position: 'Last before the claim is recorded: no agent has taken an offered task yet.',
    check: (context, { claim, assignee }) => ('offer' in assignee ? moved(makeOffer(context, claim)) : undefined),
  },
];

/** Guards after the claim is recorded. */
export const WORK_GUARDS: readonly Guard<Started>[] = [
  {
    name: 'cycle of parents',
    position: 'First: everything after it may walk up the tree, and costs would be added to themselves.',
    check: (context, started) => (mayBeInCycle(started.task) ? failInCycle(context, started) : undefined),
  },
  {
    name: 'no agent fits',
    position: 'Before the agent is looked up: this task has none.',
    check(context, { claim, assignee, task }) {
      return 'problem' in assignee ? moved(unfilled(context, claim, task, assignee.problem)) : undefined;
    },
  },
  {
    name: 'dependency or help',
    position: 'Before the agent is looked up: a rule resolves it, and the engine is not an agent.',
    check(context, { claim, task, stop }) {
      return isNeed(task) ? moved(advanceNeed(context, claim, task, stop)) : undefined;
    },
  },
  {
    name: 'unknown agent',
    position: 'Before everything that needs the agent.',
    check(context, { claim, task, name, agent }) {
      if (agent !== undefined) return undefined;
      // Another process may have created it after this pass read the agents.
      for (const each of context.agents.refresh()) context.watchers.problem(each);
      if (context.agents.all().has(name))
        return moved(release(context, claim, task, 'its agent was created meanwhile'));
      return moved(fail(context, claim, task, unknownAgent(context, name)));
    },
  },
  {
    name: 'bid for an offer that is over',
    position: 'Before the agent file is checked: the bid fails because it is late, not because of the file.',
    check: (context, started) => (roleFacts(started.task.role).isBid ? failLateBid(context, started) : undefined),
  },
  {
    name: 'faulty agent file',
    position: 'Before the shared conversation is locked: a task that fails must not hold it.',
    check(context, { claim, task, name }) {
      const fault = context.agents.fault(name);
      // Editors replace a file by removing it first, so the file of a working agent may be back
      // soon.
      const isTemporary = fault?.code === 'unknown_agent' && claim.task.claimed_at !== undefined;
      return fault === undefined || isTemporary ? undefined : moved(fail(context, claim, task, fault));
    },
  },
  {
    name: 'shared conversation or schedule in use',
    position: 'Last: the lock is kept until the task ends, so only a task that will work may take it.',
    async check(context, { claim, task, agent }) {
      if (await lockShared(context, task, agent)) return undefined;
      await release(context, claim, claim.task, 'another task is using its conversation or its schedule');
      return 'unmoved';
    },
  },
];

export async function firstGuard<T>(
  guards: readonly Guard<T>[],
  context: EngineContext,
  claimed: T,
): Promise<GuardResult | undefined> {
  for (const guard of guards) {
    const checking = guard.check(context, claimed);
    const result = checking && (await checking);
    if (result !== undefined) return result;
  }
  return undefined;
}

async function moved(done: Promise<unknown>): Promise<'moved'> {
  await done;
  return 'moved';
}

async function askToStart(context: EngineContext, claim: Claim): Promise<GuardResult | undefined> {
  const permit = await startPermit(context, claim.task);
  if (permit === 'granted') return undefined;
  if ('refused' in permit) {
    const why = problem('not_allowed', permit.refused, { hint: 'retry the task to be asked again' });
    await fail(context, claim, claim.task, why);
  } else {
    await createChildren(context, claim.task, [permit.ask]);
    await park(context, claim, claim.task, { tasks: [permit.ask.id] });
  }
  return 'moved';
}

async function keepLimit(context: EngineContext, { claim, name, here }: Claimed): Promise<GuardResult | undefined> {
  if (!(await isOverCapacity(context, claim, here))) return undefined;
  await context.tasks.release(claim, claim.task);
  await context.lookAgain();
  return hasCapacity(context, name, here) ? 'moved' : 'unmoved';
}

async function failInCycle(context: EngineContext, { claim, task }: Started): Promise<GuardResult | undefined> {
  const cycle = await parentCycle(context, task);
  return cycle === undefined ? undefined : moved(fail(context, claim, task, cycle));
}

async function failLateBid(context: EngineContext, { claim, task }: Started): Promise<GuardResult | undefined> {
  return (await isOfferOver(context, task)) ? moved(fail(context, claim, task, offerOver())) : undefined;
}

/**
 * A person may name any parent. Ids that the engine derives grow with every level, so a cycle has a
 * link that does not look derived, and only such links are followed.
 */
function mayBeInCycle({ id, parent }: Task): boolean {
  return parent !== undefined && (!id.startsWith(`${parent}.`) || mayBeCut(id));
}

async function parentCycle(context: EngineContext, task: Task): Promise<Problem | undefined> {
  const path = [task.id];
  const seen = new Set(path);
  for (let at: string | undefined = task.parent; at !== undefined;) {
    path.push(at);
    if (at === task.id)
      return problem('cycle', `its parents form a cycle: ${path.join(' → ')}`, {
        hint: 'correct "parent" in one of these files, then retry the task',
      });
    if (seen.has(at)) return undefined; // a cycle above it; one of the cycle's own tasks breaks it
    seen.add(at);
    at = (context.tasks.getOpen(at) ?? (await context.tasks.read(at)))?.task.parent;
  }
  return undefined;
}

/** Asks for bids. A person may have changed the task before the claim, so it is resolved again. */
async function makeOffer(context: EngineContext, claim: Claim): Promise<void> {
  const assignee = resolveAssignee(context, claim.task);
  if (!('offer' in assignee)) return release(context, claim, claim.task, 'it was assigned to one agent meanwhile');
  const { waits: _, error: __, result: ___, ended_at: ____, ...task } = claim.task;
  const blocked = tooDeep(task, context.config.limits) ?? (await failedDependency(context, task));
  return blocked ? fail(context, claim, task, blocked) : offer(context, claim, task, assignee.offer);
}

function unknownAgent(context: EngineContext, name: string): Problem {
  const fault = context.agents.unreadable?.().get(name);
  if (fault !== undefined)
    return {
      ...fault,
      message: `the file of ${name} cannot be read: ${fault.message}`,
      hint: 'fix it, then retry the task',
    };
  return problem('unknown_agent', noAgent(name, context.agents.all().keys()), {
    hint: `write agents/${name}.md, or change "to" in the task's file; then guild task retry`,
  });
}
