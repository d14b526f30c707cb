/**
 * The costs of one conversation while its task is claimed: the children it asked for, what they cost
 * and what is left. Each message and each ended child is read once, so a turn's cost does not grow.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { remainingBudget, type RemainingBudget } from '../../rules/budget/remaining.js';
import type { EngineContext } from '../core/context.js';
import { askedIn, bidsOf, costsOf, subtasks, type Costs } from '../tasks/costs.js';
import type { Conversation } from './conversation.js';

export interface Account {
  remaining(): Promise<RemainingBudget>;
  costs(): Promise<Costs>;
}

/** `agent` as its file is now: a conversation goes on with the prompt it began with, but a budget may have been raised. */
export function account(context: EngineContext, task: Task, talk: Conversation, agent: Agent): Account {
  const ids: string[] = [];
  const known = new Map<string, Placed>();
  let seen = 0;
  let bids: Placed[] | undefined;
  let last: RemainingBudget | undefined;
  return {
    async remaining() {
      const children = [...(await look()), ...(bids ??= await bidsOf(context, task))];
      last = remainingBudget({ task, agent, config: context.config, own: talk.usage(), children });
      return last;
    },
    async costs() {
      const costs = costsOf(talk.usage(), [...(await look()), ...(await subtasks(context, task))]);
      const short = last?.short()?.budget;
      return short === undefined ? costs : { ...costs, short };
    },
  };

  async function look(): Promise<Placed[]> {
    const messages = talk.mine();
    if (messages.length < seen) seen = ids.length = 0; // a person took something away
    ids.push(...askedIn(context, task, messages, seen));
    seen = messages.length;
    for (const id of ids) {
      const before = known.get(id);
      if (before !== undefined && (isEnded(before.state) || context.tasks.isOpen(id))) continue;
      const now = await context.tasks.read(id);
      if (now !== undefined) known.set(id, now);
    }
    return ids.flatMap((id) => known.get(id) ?? []);
  }
}
