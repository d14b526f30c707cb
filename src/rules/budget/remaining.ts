/**
 * The budget that a task has left, and the shares it grants to its children. It is computed from
 * the records each time: the task's own usage, the usage of ended children and the shares of open
 * ones. So it is correct after a crash. Only the process that holds the claim grants from it.
 */
import { defined } from '../../domain/defined.js';
import { roleFacts, type FollowingStage } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import {
  addBudgets,
  budgetWord,
  carve,
  isLimited,
  leftOf,
  reservation,
  tighter,
  type Budget,
  type BudgetName,
  type Spending,
} from '../../domain/budget/budget.js';
import type { Config } from '../../domain/config/config.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import { isChecked } from '../patterns/check.js';

export interface RemainingBudget {
  /** The budget for the task's own turns. */
  left(): Budget;
  /** The part of its time that is kept for a last answer. */
  lastMs: number;
  /**
   * A child's share of what is left, or why it gets none. `wave`: the number of children granted
   * together, from this one on; `kept`: the number of shares that stay with the task.
   */
  grant(child: WantedChild, wave: number, kept: number): Budget | Problem;
  /**
   * The amount that the last refused grant lacked, and the open children that may return some of
   * it.
   */
  short(): Shortage | undefined;
}

interface Shortage {
  budget: BudgetName;
  holders: WantedChild[];
}

interface RemainingInput {
  task: Task;
  agent: Pick<Agent, 'budget'>;
  config: Pick<Config, 'budget' | 'limits'>;
  own: Usage;
  /** Every child the task has created. */
  children: readonly Placed[];
}

const LAST_ANSWER_MS = 30_000;

export function remainingBudget({ task, agent, config, own, children }: RemainingInput): RemainingBudget {
  const total = treeBudget(config, agent, task);
  const spending = spendingOf(own, children);
  let { reserved } = spending;
  const counted = children.filter(isCounted);
  const holding: WantedChild[] = counted.filter(({ state }) => !isEnded(state)).map(asWanted);
  let shortage: Shortage | undefined;
  let count = counted.filter((child) => roleFacts(child.task.role).countsAsChild).length;
  const free = (): Budget => leftOf(total, { ...spending, reserved });
  return {
    lastMs: Math.min(LAST_ANSWER_MS, (total.timeMs ?? 0) / 5),
    left: () => tighter(free(), ownLeft(config, agent, own)),
    grant(child, wave, kept) {
      if (child.to === HUMAN) return {};
      if (count >= config.limits.children) return tooMany(task, config.limits.children);
      const share = carve(free(), wave, kept, child.budget);
      if (typeof share === 'string') {
        const holders = holding.filter((holder) => mayGiveBack(holder, share));
        if (holders.length > 0) shortage = { budget: share, holders };
        return overBudget(share, task, `and leaves nothing for ${child.to ?? 'a child'}`);
      }
      count++;
      reserved = addBudgets(reserved, reservation(share));
      holding.push({ ...child, budget: share });
      return share;
    },
    short: () => shortage,
  };
}

/** A child returns its unspent share when it ends. Time is not shared out. */
function mayGiveBack({ budget = {} }: WantedChild, name: BudgetName): boolean {
  return name !== 'timeMs' && (budget[name] ?? 0) > 0;
}

function asWanted({ task }: Placed): WantedChild {
  const { id, role, to, description, budget } = task;
  return { id, role, description, to, budget };
}

/** All children, each with its share, or why one of them gets none. */
export function grantEach(
  remaining: RemainingBudget,
  wanted: readonly WantedChild[],
  kept: (child: WantedChild) => number,
): WantedChild[] | Problem {
  const granted: WantedChild[] = [];
  for (const [at, child] of wanted.entries()) {
    const share = remaining.grant(child, wanted.length - at, kept(child));
    if ('code' in share) return share;
    granted.push(withBudget(child, share));
  }
  return granted;
}

export function withBudget(child: WantedChild, budget: Budget): WantedChild {
  return isLimited(budget) ? { ...child, budget } : child;
}

/**
 * The budget of a task with everything under it. Turns and tool calls set by an agent or the
 * workspace limit one conversation, so they are left out.
 */
export function treeBudget({ budget }: Pick<Config, 'budget'>, agent: Pick<Agent, 'budget'>, task: Task): Budget {
  return [split(budget).shared, split(agent.budget).shared, task.budget ?? {}].reduce(tighter);
}

function ownLeft({ budget, limits }: RemainingInput['config'], agent: Pick<Agent, 'budget'>, own: Usage): Budget {
  const limit = [{ turns: limits.turns }, split(budget).own, split(agent.budget).own].reduce(tighter);
  return leftOf(limit, { spent: own, elapsedMs: 0, reserved: {} });
}

function split({ turns, toolCalls, ...shared }: Budget): { own: Budget; shared: Budget } {
  return { own: defined<Budget>({ turns, toolCalls }), shared };
}

function spendingOf(own: Usage, children: readonly Placed[]): Spending {
  let spent: Usage = { ...own, children: 0 };
  let reserved: Budget = {};
  for (const placed of children.filter(isCounted)) {
    const { role, usage = NO_USAGE, budget } = placed.task;
    const { countsAsChild } = roleFacts(role);
    if (isEnded(placed.state))
      spent = addUsage(addUsage(spent, countsAsChild ? usage : moneyOf(usage)), { children: countsAsChild ? 1 : 0 });
    else reserved = addBudgets(reserved, countsAsChild ? reservation(budget) : costOf(reservation(budget)));
  }
  return { spent, reserved, elapsedMs: own.busyMs + childrenMs(children) };
}

/** Turns, tool calls and children are for the work; a bid takes only tokens and money. */
function moneyOf({ inputTokens, outputTokens, cachedTokens, microUsd }: Usage): Partial<Usage> {
  return { inputTokens, outputTokens, cachedTokens, microUsd };
}

function costOf({ turns: _, toolCalls: __, children: ___, ...rest }: Budget): Budget {
  return rest;
}

/**
 * The time that ended children worked. Children that ran in parallel count once; waits for people
 * do not count.
 */
function childrenMs(children: readonly Placed[]): number {
  const spans = children
    .flatMap(({ task }) => (task.ended_at ? [[Date.parse(task.created_at), Date.parse(task.ended_at)] as const] : []))
    .sort((a, b) => a[0] - b[0]);
  let covered = 0;
  let until = -Infinity;
  for (const [from, to] of spans) {
    covered += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  const busy = children.reduce((sum, { task }) => sum + (task.usage?.busyMs ?? 0), 0);
  return Math.min(covered, busy);
}

/** Questions to people cost nothing and do not count as children. */
function isCounted({ task }: Placed): boolean {
  return task.to !== HUMAN;
}

/** The number of shares that stay with a task, for the stages after the one that is asked. */
export function keptFor(agent: Agent, role: string, wave: number): number {
  const { followedBy } = roleFacts(role);
  if (followedBy === undefined) return 1;
  return followedBy.reduce((shares, stage) => shares + SHARES_OF[stage](agent, wave), 0);
}

const SHARES_OF: Readonly<Record<FollowingStage, (agent: Agent, wave: number) => number>> = {
  check: (agent) => (isChecked(agent) ? 1 : 0),
  handoff: (agent) => (agent.handoff === undefined ? 0 : 1),
  route_or_handoff: (agent) => (agent.handoff === undefined && agent.router === undefined ? 0 : 1),
  next_round(agent, wave) {
    // An agent without its own team passes its seat on through router and handoff.
    if (agent.team === undefined) return agent.router !== undefined && agent.handoff !== undefined ? 1 : 0;
    // Another round, and the answer at the end.
    return wave + 1;
  },
};

export function overBudget(name: BudgetName, task: Pick<Task, 'id'>, more: string): Problem {
  return problem('over_budget', `the budget of ${budgetWord(name)} of ${task.id} is used up ${more}`, {
    hint: `raise \`budget\` in the agent, the task or guild.yaml${name === 'turns' ? ', or `limits.turns`' : ''}, then retry the task`,
  });
}

function tooMany(task: Task, limit: number): Problem {
  return problem('over_limit', `${task.id} has created ${limit} children, which is the limit`, {
    hint: 'create fewer, or raise limits.children in guild.yaml',
  });
}
