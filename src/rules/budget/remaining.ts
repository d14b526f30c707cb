/**
 * What a task has left, and what it gives to its children. A purse is counted afresh from the records: the task's own
 * usage, what ended children spent, what open ones hold. So it is right after any crash, and whoever has the claim on the
 * task is the only one who gives from it.
 */
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

export interface Purse {
  /** What is left for the task's own turns. */
  left(): Budget;
  /** Of its time, what is kept for a last answer. */
  lastMs: number;
  /** A child's budget, taken from what is left; why there can be no such child. `wave`: it and those still to come with it. */
  grant(child: WantedChild, wave: number, kept: number): Budget | Problem;
  /** What the last refused grant lacked, and the open children that hold of it what they may give back. Undefined: none does, or nothing was refused. */
  short(): Short | undefined;
}

interface Short {
  budget: BudgetName;
  holders: WantedChild[];
}

interface PurseGiven {
  task: Task;
  agent: Pick<Agent, 'budget'>;
  config: Pick<Config, 'budget' | 'limits'>;
  own: Usage;
  /** Every child it has made. */
  children: readonly Placed[];
}

const LAST_ANSWER_MS = 30_000;

export function purse({ task, agent, config, own, children }: PurseGiven): Purse {
  const whole = treeBudget(config, agent, task);
  const spending = spendingOf(own, children);
  let { reserved } = spending;
  const holding: WantedChild[] = children.filter((one) => isCounted(one) && !isEnded(one.state)).map(asWanted);
  let short: Short | undefined;
  let count = children.filter((one) => isCounted(one) && roleFacts(one.task.role).countsAsChild).length;
  const free = (): Budget => leftOf(whole, { ...spending, reserved });
  return {
    lastMs: Math.min(LAST_ANSWER_MS, (whole.timeMs ?? 0) / 5),
    left: () => tighter(free(), ownLeft(config, agent, own)),
    grant(child, wave, kept) {
      if (child.to === HUMAN) return {};
      if (count >= config.limits.children) return tooMany(task, config.limits.children);
      const share = carve(free(), wave, kept, child.budget);
      if (typeof share === 'string') {
        const holders = holding.filter((one) => mayGiveBack(one, share));
        if (holders.length > 0) short = { budget: share, holders };
        return overBudget(share, task, `and leaves nothing for ${child.to ?? 'a child'}`);
      }
      count++;
      reserved = addBudgets(reserved, reservation(share));
      holding.push({ ...child, budget: share });
      return share;
    },
    short: () => short,
  };
}

/** More than what it takes to begin, which is spent in any case; time is held by nobody. */
function mayGiveBack({ budget = {} }: WantedChild, name: BudgetName): boolean {
  return name !== 'timeMs' && (budget[name] ?? 0) > 0;
}

function asWanted({ task }: Placed): WantedChild {
  const { id, role, to, description, budget } = task;
  return { id, role, description, ...(to === undefined ? {} : { to }), ...(budget ? { budget } : {}) };
}

/** All of them, each with its share; why there can be none. */
export function grantEach(
  from: Purse,
  wanted: readonly WantedChild[],
  kept: (child: WantedChild) => number,
): WantedChild[] | Problem {
  const granted: WantedChild[] = [];
  for (const [at, child] of wanted.entries()) {
    const share = from.grant(child, wanted.length - at, kept(child));
    if ('code' in share) return share;
    granted.push(withBudget(child, share));
  }
  return granted;
}

export function withBudget(child: WantedChild, budget: Budget): WantedChild {
  return isLimited(budget) ? { ...child, budget } : child;
}

/** What a task and all under it may spend. Turns and tool calls of an agent or the workspace are those of one conversation. */
function treeBudget({ budget }: Pick<Config, 'budget'>, agent: Pick<Agent, 'budget'>, task: Task): Budget {
  return [apart(budget).shared, apart(agent.budget).shared, task.budget ?? {}].reduce(tighter);
}

function ownLeft({ budget, limits }: PurseGiven['config'], agent: Pick<Agent, 'budget'>, own: Usage): Budget {
  const mine = [{ turns: limits.turns }, apart(budget).own, apart(agent.budget).own].reduce(tighter);
  return leftOf(mine, { spent: own, elapsedMs: 0, reserved: {} });
}

function apart({ turns, toolCalls, ...shared }: Budget): { own: Budget; shared: Budget } {
  return {
    own: { ...(turns === undefined ? {} : { turns }), ...(toolCalls === undefined ? {} : { toolCalls }) },
    shared,
  };
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

/** Turns, tool calls and children of a task are for its work: a bid for it takes only tokens and money. */
function moneyOf({ inputTokens, outputTokens, cachedTokens, microUsd }: Usage): Partial<Usage> {
  return { inputTokens, outputTokens, cachedTokens, microUsd };
}

function costOf({ turns: _, toolCalls: __, children: ___, ...rest }: Budget): Budget {
  return rest;
}

/** How long ended children were at work: those at the same time count once, and a wait for people does not count. */
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

/** What people are asked costs nothing and is no child in the sense of a budget. */
function isCounted({ task }: Placed): boolean {
  return task.to !== HUMAN;
}

/** Shares that stay with a task when a stage of its pattern is asked: for the stages after it. */
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
    // Without a team of its own, it passes on its seat in another: to whom it hands off, or routes.
    if (agent.team === undefined) return agent.router !== undefined && agent.handoff !== undefined ? 1 : 0;
    // A team goes on in rounds: one after this, and the answer at the end.
    return wave + 1;
  },
};

export function overBudget(name: BudgetName, task: Pick<Task, 'id'>, more: string): Problem {
  return problem('over_budget', `the budget of ${budgetWord(name)} of ${task.id} is used up ${more}`, {
    hint: 'raise `budget` in the agent or the task, or limits in guild.yaml, and retry the task',
  });
}

function tooMany(task: Task, most: number): Problem {
  return problem('over_limit', `${task.id} has made ${most} children, which is the limit`, {
    hint: 'ask fewer, or raise limits.children in guild.yaml',
  });
}
