/**
 * Offers an unaddressed task to the agents that could do it. The claim is held only to decide: ask
 * for the missing bids and park, or compare the bids and release the task to the best bidder. The
 * host of each agent works on its bid. Bids are sealed.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { readBid, type Bid } from '../../domain/task/bid.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { award, bidsPage, noneFit, scoreText, type Award, type Offered } from '../../rules/staffing/award.js';
import { errorText } from '../../rules/patterns/gather.js';
import { bidId, offerKey, offerStep, wantedBid, type Situation } from '../../rules/staffing/offer.js';
import { NO_RECORD, recordOf } from '../../rules/staffing/track-record.js';
import { costsOf } from '../tasks/costs.js';
import { createChildren } from '../tasks/create-children.js';
import { fail, park, release } from '../tasks/settle.js';
import { extend } from './extend.js';
import { capacity, type Capacity } from '../core/capacity.js';
import { grantForCost } from '../tasks/grant.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext } from '../core/context.js';

/** `claim` is of a task without `to`; `fit` are the agents that could do it. */
export async function offer(context: EngineContext, claim: Claim, task: Task, fit: readonly Agent[]): Promise<void> {
  const bids = await bidsFor(context, task, fit);
  // An agent whose process ended before its bid was in is asked again when it returns.
  const children = new Map([...bids].filter(([, placed]) => !isAbandoned(placed)));
  const cached = cachedBids(context, task, fit, children);
  const { bidMs } = context.config.coordination;
  const now = context.clock.now();
  // A task parked for bids has a deadline; a retry starts a new one.
  const until = new Date(claim.task.waits?.until ?? now.getTime() + bidMs);
  const free = await capacity(context);
  const step = offerStep({
    task,
    fit,
    isFree: free.isFree,
    children,
    cached,
    now,
    until,
  });
  const offered = withBids(task, children);
  const withAllBids = withBids(task, bids);
  const costs = costsOf(NO_USAGE, bids.values());
  switch (step.do) {
    case 'ask':
      return ask(context, claim, offered, step.agents, bids, free);
    case 'wait':
      return park(context, claim, offered, { tasks: step.tasks, until: until.toISOString() }, costs);
    case 'later':
      return release(context, claim, offered, 'all agents that could do it are busy', costs);
    case 'weigh': {
      for (const id of step.late) await endLate(context, id);
      const shown = fit.filter((agent) => step.asked.includes(agent) || isAbandoned(bids.get(bidId(task, agent))));
      const weighed = award(
        task,
        shown.map((agent) => standing(context, task, agent, bids, cached)),
      );
      keepBids(context, task, step.asked, children);
      if (weighed.agent !== undefined) return assign(context, claim, withAllBids, weighed, costs);
      // Agents that are busy, paused or without a host are asked later.
      if (step.asked.length < fit.length) {
        const ids = new Set([...(offered.bids ?? []), ...step.asked.map((agent) => bidId(task, agent))]);
        const asked = { ...offered, bids: [...ids].sort() };
        return release(context, claim, asked, 'no bid reached its threshold; others are busy or away', costs);
      }
      showBids(context, withAllBids, weighed);
      return unfilled(context, claim, withAllBids, noneFit(weighed.scores), costs, unableOnly(weighed));
    }
  }
}

/**
 * No agent can or wants to do the task. It fails unless the workspace can be extended with a new
 * agent. This is the only place where a task fails for this reason.
 */
export async function unfilled(
  context: EngineContext,
  claim: Claim,
  task: Task,
  why: Problem,
  costs?: ReturnType<typeof costsOf>,
  unable?: readonly string[],
): Promise<void> {
  // Without an assignee, a retry offers it again.
  const { to: _, claimed_by: __, ...unassigned } = task;
  if (await extend(context, claim, unassigned, unable)) return;
  await fail(context, claim, unassigned, why, costs);
}

/**
 * The bidders' reasons, if all are unable to do the task: a capability is missing that none named.
 */
function unableOnly({ scores }: Award): string[] | undefined {
  const said = scores.filter(({ verdict }) => verdict === 'unable');
  return said.length > 0 && said.length === scores.length ? said.map(scoreText) : undefined;
}

/** A bid after the award is useless, so no model is called for it. */
export async function isOfferOver(context: EngineContext, bid: Task): Promise<boolean> {
  if (!roleFacts(bid.role).isBid || bid.parent === undefined) return false;
  const parent = await context.tasks.read(bid.parent);
  return parent === undefined || isEnded(parent.state) || parent.task.to !== undefined;
}

export function offerOver(): Problem {
  return problem('timed_out', 'the offer ended before this bid was in');
}

/** True if the agent's process ended before the bid was in. */
function isAbandoned(placed: Placed | undefined): boolean {
  return placed?.state === 'failed' && placed.task.error?.code === 'nobody_fit';
}

/** Ends bids whose agent lost its host, so that the award does not wait. True if there were any. */
export async function endAbandonedBids(context: EngineContext): Promise<boolean> {
  if (context.hosts === undefined) return false;
  const { isHosted } = await capacity(context);
  const bids = [...underWay(context)].filter(({ task, state }) => roleFacts(task.role).isBid && state !== 'active');
  let ended = false;
  for (const { task } of bids) {
    if (task.to === undefined || isHosted(task.to)) continue;
    const away = problem('nobody_fit', `no process works for ${task.to} any more; it is asked again when one does`);
    ended = (await endLate(context, task.id, away)) || ended;
  }
  return ended;
}

async function ask(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agents: readonly Agent[],
  children: ReadonlyMap<string, Placed | undefined>,
  free: Capacity,
): Promise<void> {
  const { bidMs } = context.config.coordination;
  const wanted: WantedChild[] = [];
  for (const agent of agents) {
    const view = await situation(context, task, agent, free);
    const bidders = agents.filter(({ name }) => name !== agent.name);
    wanted.push(wantedBid(task, agent, { ...view, bidders }, bidMs));
  }
  const granted = grantForCost(context, task, wanted, children);
  const costs = costsOf(NO_USAGE, children.values());
  if ('code' in granted) return fail(context, claim, task, granted, costs);
  const now = context.clock.now();
  for (const { id } of granted) await askAgain(context, children.get(id));
  await createChildren(context, task, granted);
  const open = [...children.values()].flatMap((child) => (child && !isEnded(child.state) ? child.task.id : []));
  record(context, 'task.offered', { task: task.id, agents: agents.map((agent) => agent.name) });
  const ids = granted.map((child) => child.id);
  await park(
    context,
    claim,
    { ...task, bids: [...(task.bids ?? []), ...ids] },
    { tasks: [...open, ...ids], until: new Date(now.getTime() + bidMs).toISOString() },
    costs,
  );
}

/** Reopens an abandoned bid with its attempts, so that a bid that kills processes is given up. */
async function askAgain(context: EngineContext, placed: Placed | undefined): Promise<void> {
  if (placed === undefined || !isAbandoned(placed)) return;
  const { error: _, ended_at: __, ...rest } = placed.task;
  if (await context.tasks.reopen(rest.id, rest)) record(context, 'task.retried', { task: rest.id, cause: rest.parent });
}

async function bidsFor(
  context: EngineContext,
  task: Task,
  fit: readonly Agent[],
): Promise<Map<string, Placed | undefined>> {
  const ids = new Set([...fit.map((agent) => bidId(task, agent)), ...(task.bids ?? [])]);
  return new Map(await Promise.all([...ids].map(async (id) => [id, await context.tasks.read(id)] as const)));
}

/** Without bids, the key is removed, so the task is queued as if it had never been offered. */
function withBids({ bids: _, ...task }: Task, children: ReadonlyMap<string, Placed | undefined>): Task {
  const bids = [...children].flatMap(([id, placed]) => (placed === undefined ? [] : id)).sort();
  return bids.length === 0 ? task : { ...task, bids };
}

/** Cached bids on an equal task. A bid on this task takes precedence. */
function cachedBids(
  context: EngineContext,
  task: Task,
  fit: readonly Agent[],
  children: ReadonlyMap<string, Placed | undefined>,
): Map<string, Bid> {
  const cached = new Map<string, Bid>();
  for (const agent of fit) {
    const bid = children.get(bidId(task, agent)) ? undefined : context.bids.known(offerKey(task, agent));
    if (bid !== undefined) cached.set(agent.name, bid);
  }
  return cached;
}

function keepBids(
  context: EngineContext,
  task: Task,
  asked: readonly Agent[],
  children: ReadonlyMap<string, Placed | undefined>,
): void {
  for (const agent of asked) {
    const bid = bidIn(children.get(bidId(task, agent)));
    if (bid !== undefined) context.bids.keep(offerKey(task, agent), bid);
  }
}

function standing(
  context: EngineContext,
  task: Task,
  agent: Agent,
  children: ReadonlyMap<string, Placed | undefined>,
  cached: ReadonlyMap<string, Bid>,
): Offered {
  const placed = children.get(bidId(task, agent));
  const bid = bidIn(placed) ?? cached.get(agent.name);
  const all = context.bids.records();
  return defined({
    agent,
    bid,
    record: all === undefined ? NO_RECORD : recordOf(all, agent.name),
    why: bid === undefined && placed?.task.error ? errorText(placed.task.error) : undefined,
  });
}

function bidIn(placed: Placed | undefined): Bid | undefined {
  return placed?.state === 'completed' ? readBid(placed.task.result ?? '') : undefined;
}

async function assign(
  context: EngineContext,
  claim: Claim,
  task: Task,
  weighed: Award,
  { usage, own }: ReturnType<typeof costsOf>,
): Promise<void> {
  const { waits: _, claimed_by: __, ...rest } = task;
  showBids(context, task, weighed);
  const isReleased = await context.tasks.release(claim, { ...rest, to: weighed.agent!, usage, own_usage: own });
  if (isReleased)
    record(context, 'task.awarded', {
      task: task.id,
      agent: weighed.agent,
      why: weighed.scores.map(scoreText).join('; '),
      scores: weighed.scores,
    });
}

function showBids(context: EngineContext, task: Task, weighed: Award): void {
  context.views.write(`tasks/bids/${task.id}.md`, bidsPage(task, weighed));
}

/** Ends a bid that is late. A bid that is running ends by itself and is ignored. */
async function endLate(context: EngineContext, id: string, why = offerOver()): Promise<boolean> {
  const claim = await context.tasks.claim(id, 'nobody');
  if (claim === undefined) return false;
  await fail(context, claim, claim.task, why);
  return true;
}

async function situation(
  context: EngineContext,
  task: Task,
  agent: Agent,
  free: Capacity,
): Promise<Omit<Situation, 'bidders'>> {
  const all = context.bids.records();
  const ids = all === undefined ? [] : recordOf(all, agent.name).tasks;
  const recent: string[] = [];
  for (const id of ids) {
    const placed = await context.tasks.read(id);
    if (placed !== undefined) recent.push(`${firstLine(placed.task)} (${placed.state})`);
  }
  return {
    workload: free.load(agent.name),
    recent,
    open: Math.max(0, context.tasks.openCount() - 1),
    others: others(context, task),
  };
}

/** Other open work, as context for a bid; internal tasks are left out. */
function others(context: EngineContext, task: Task): string[] {
  const lines: string[] = [];
  let seen = 0;
  for (const open of context.tasks.open()) {
    if (lines.length >= MAX_OTHERS || ++seen > MAX_SCANNED) break;
    if (open.task.id !== task.id && roleFacts(open.task.role).isWork)
      lines.push(`${firstLine(open.task)} (${open.state})`);
  }
  return lines;
}

const MAX_OTHERS = 8;
const MAX_SCANNED = 200;

function firstLine({ description }: Task): string {
  return description.split('\n')[0]!.slice(0, 120);
}
