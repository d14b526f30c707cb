/**
 * The books of one conversation while its task is held: which children it asked for, what they cost, what is left. Each
 * message is looked at once and each ended child is read once, so a turn costs the same however long the talk is.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { BudgetName } from '../../domain/budget/budget.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import { HUMAN, isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import { purse, type Purse } from '../../rules/budget/remaining.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Parts } from '../core/context.js';

/** What a task spent itself, and with all under it. */
export interface Costs {
  own: Usage;
  usage: Usage;
  /** What it lacked to ask for more, as long as its children hold that. */
  short?: BudgetName;
}

export interface Account {
  purse(): Promise<Purse>;
  costs(): Promise<Costs>;
}

/** `agent` as its file is now: a conversation goes on with the prompt it began with, but a budget may have been raised. */
export function account(parts: Parts, task: Task, talk: Conversation, agent: Agent): Account {
  const ids: string[] = [];
  const known = new Map<string, Placed>();
  let seen = 0;
  let bids: Placed[] | undefined;
  let last: Purse | undefined;
  return {
    async purse() {
      const children = [...(await look()), ...(bids ??= await bidsOf(parts, task))];
      last = purse({ task, agent, config: parts.config, own: talk.usage(), children });
      return last;
    },
    async costs() {
      const costs = costsOf(talk.usage(), [...(await look()), ...(await subtasks(parts, task))]);
      const short = last?.short()?.budget;
      return short === undefined ? costs : { ...costs, short };
    },
  };

  async function look(): Promise<Placed[]> {
    const messages = talk.mine();
    if (messages.length < seen) seen = ids.length = 0; // a person took something away
    ids.push(...askedIn(parts, task, messages, seen));
    seen = messages.length;
    for (const id of ids) {
      const before = known.get(id);
      if (before !== undefined && (isEnded(before.state) || parts.store.isOpen(id))) continue;
      const now = await parts.store.read(id);
      if (now !== undefined) known.set(id, now);
    }
    return ids.flatMap((id) => known.get(id) ?? []);
  }
}

/**
 * Tasks that people put under this one, on a board or as files, and the bids for it: it waits for them, and what they cost counts as its
 * own children's.
 */
export async function subtasks(parts: Parts, task: Task): Promise<Placed[]> {
  const found = await Promise.all(task.dependencies.map((id) => parts.store.read(id)));
  return [...found.flatMap((one) => (one?.task.parent === task.id ? one : [])), ...(await bidsOf(parts, task))];
}

export async function bidsOf(parts: Parts, task: Task): Promise<Placed[]> {
  const found = await Promise.all((task.bids ?? []).map((id) => parts.store.read(id)));
  return found.flatMap((one) => one ?? []);
}

/** The books of a task, given the children it has made. */
export function costsOf(spent: Usage, children: Iterable<Placed | undefined>): Costs {
  let own: Usage = { ...spent, children: 0 };
  let below: Usage = NO_USAGE;
  for (const child of children) {
    if (child === undefined || child.task.to === HUMAN) continue;
    if (child.task.role !== 'bid') own = addUsage(own, { children: 1 });
    below = addUsage(below, child.task.usage ?? NO_USAGE);
  }
  return { own, usage: addUsage(own, below) };
}

/** Ids of what these messages asked of others. */
export function askedIn(parts: Parts, task: Task, messages: readonly Message[], from: number): string[] {
  const found: string[] = [];
  for (let i = from; i < messages.length; i++) {
    for (const call of messages[i]!.toolCalls ?? [])
      if (parts.tools.get(call.name)?.kind === 'ask') found.push(childId(task.id, `call-${call.id}`));
  }
  return found;
}
