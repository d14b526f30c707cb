/**
 * The guards between the claim of a task and the work on it, in order. The first guard that ends
 * the task's stay in this process wins, so the order is part of the contract, and each guard states
 * the reason for its position.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { tooDeep } from '../../rules/patterns/decide.js';
import { advanceNeed, isNeed } from '../coordination/needs.js';
import { assigneeName, resolveAssignee, type Assignee } from '../core/assignee.js';
import type { EngineContext } from '../core/context.js';
import { hasCapacity, isOverCapacity } from '../core/capacity.js';
import { isOfferOver, offer, offerOver, unfilled } from '../staffing/offer.js';
import { isCancelled } from '../tasks/cancelled.js';
import { fail, release } from '../tasks/settle.js';
import { failedDependency } from './act.js';
import { takesTurn } from './runnable.js';

/** A task that this process has just claimed. */
export interface Claimed {
  claim: Claim;
  assignee: Assignee;
  /** The assignee, or `nobody`. */
  name: string;
  /** How many other tasks of the same agent this process has in hand. */
  here: number;
}

/** A claimed task whose claim is recorded. */
export interface Started extends Claimed {
  /** The record as its new assignee sees it. */
  task: Task;
  agent: Agent | undefined;
  stop: AbortSignal;
}

/** `moved`: looking at the open tasks again may find more to do. */
export type Passed = 'moved' | 'unmoved';

export interface Guard<T> {
  name: string;
  /** Why it is checked at this position. */
  position: string;
  /** Undefined: the next guard is asked. Otherwise the task has left this process. */
  check(context: EngineContext, claimed: T): Promise<Passed | undefined>;
}

/**
 * Guards before the claim is recorded: a task that they put back was never taken, as far as history
 * knows.
 */
export const CLAIM_GUARDS: readonly Guard<Claimed>[] = [
  {
    name: 'cancelled',
    position: 'First: a cancelled task must not be changed, and only the claim keeps the canceller from ending it now.',
    async check(context, { claim }) {
      if (!(await isCancelled(context, claim.task))) return undefined;
      await context.tasks.release(claim, claim.task);
      return 'unmoved';
    },
  },
  {
    name: 'assigned to another agent',
    position: 'Before everything that asks about the agent: the record may have changed before the claim.',
    async check(context, { claim, assignee, name }) {
      if (!('agent' in assignee) || assigneeName(context, claim.task) === name) return undefined;
      await context.tasks.release(claim, claim.task);
      return 'moved';
    },
  },
  {
    name: 'agent without capacity',
    position: 'Under the claim: of two processes that claim at the same time, the later one sees the other claim.',
    async check(context, { claim, assignee, name, here }) {
      if (!('agent' in assignee) || !(await isOverCapacity(context, claim, here))) return undefined;
      await context.tasks.release(claim, claim.task);
      await context.lookAgain();
      return hasCapacity(context, name, here) ? 'moved' : 'unmoved';
    },
  },
  {
    name: 'offered to several agents',
    position: 'Last before the record: nobody has taken an offered task, so history must not say so.',
    async check(context, { claim, assignee }) {
      if (!('offer' in assignee)) return undefined;
      await makeOffer(context, claim);
      return 'moved';
    },
  },
];

/** Guards after the claim is recorded. */
export const WORK_GUARDS: readonly Guard<Started>[] = [
  {
    name: 'nobody fits',
    position: 'Before the agent is looked for: there is none to find.',
    async check(context, { claim, assignee, task }) {
      if (!('problem' in assignee)) return undefined;
      await unfilled(context, claim, task, assignee.problem);
      return 'moved';
    },
  },
  {
    name: 'dependency or help',
    position: 'Before the agent is looked for: a rule resolves it, and the engine is not an agent.',
    async check(context, { claim, task, stop }) {
      if (!isNeed(task)) return undefined;
      await advanceNeed(context, claim, task, stop);
      return 'moved';
    },
  },
  {
    name: 'unknown agent',
    position: 'Before everything that needs the agent.',
    async check(context, { claim, task, name, agent }) {
      if (agent !== undefined) return undefined;
      await fail(context, claim, task, unknownAgent(context, name));
      return 'moved';
    },
  },
  {
    name: 'bid for an offer that is over',
    position: 'Before the file of the agent is judged: the bid ends as late, not as the fault of a file.',
    async check(context, { claim, task }) {
      if (!(await isOfferOver(context, task))) return undefined;
      await fail(context, claim, task, offerOver());
      return 'moved';
    },
  },
  {
    name: 'faulty agent file',
    position: 'Before the turn is taken: a task that fails must not hold it.',
    async check(context, { claim, task, name }) {
      const fault = context.agents.fault(name);
      // Editors replace a file by removing it, so an agent that is missing in the middle of its
      // work may be back soon.
      const isPassing = fault?.code === 'unknown_agent' && claim.task.claimed_at !== undefined;
      if (fault === undefined || isPassing) return undefined;
      await fail(context, claim, task, fault);
      return 'moved';
    },
  },
  {
    name: 'shared conversation in use',
    position: 'Last: the turn is kept until the task has ended, so only a task that will work may take it.',
    async check(context, { claim, task, agent }) {
      if (await takesTurn(context, task, agent)) return undefined;
      await release(context, claim, claim.task, 'another task has its turn in the shared conversation');
      return 'unmoved';
    },
  },
];

/** The task goes to the first guard that applies; undefined if none does. */
export async function firstGuard<T>(
  guards: readonly Guard<T>[],
  context: EngineContext,
  claimed: T,
): Promise<Passed | undefined> {
  for (const guard of guards) {
    const passed = await guard.check(context, claimed);
    if (passed !== undefined) return passed;
  }
  return undefined;
}

/** Asks for bids. A person may have changed the task meanwhile, so it is looked at as it is now. */
async function makeOffer(context: EngineContext, claim: Claim): Promise<void> {
  const assignee = resolveAssignee(context, claim.task);
  if (!('offer' in assignee)) return release(context, claim, claim.task, 'it is for one agent now');
  const { waits: _, error: __, result: ___, ended_at: ____, ...task } = claim.task;
  const blocked = tooDeep(task, context.config.limits) ?? (await failedDependency(context, task));
  return blocked ? fail(context, claim, task, blocked) : offer(context, claim, task, assignee.offer);
}

function unknownAgent(context: EngineContext, name: string): Problem {
  const wrong = context.agents.unreadable?.().get(name);
  if (wrong !== undefined)
    return {
      ...wrong,
      message: `the file of ${name} cannot be read: ${wrong.message}`,
      hint: 'fix it, then retry the task',
    };
  const known = [...context.agents.all().keys()].sort().join(', ') || 'none';
  return problem('unknown_agent', `there is no agent ${name}; the agents are: ${known}`, {
    hint: `write agents/${name}.md, or change "to" in the task's file; then guild task retry`,
  });
}
