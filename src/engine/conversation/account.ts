/**
 * Costs of one conversation while its task is claimed: its own turns, its children, and the budget
 * left. Each message and each ended child is read once, so a long conversation costs no more than a
 * short one.
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

/** `agent` is the current file: the prompt is pinned, but the budget may have been raised. */
export function account(context: EngineContext, task: Task, conversation: Conversation, agent: Agent): Account {
  const ids: string[] = [];
  const children = new Map<string, Placed>();
  let seen = 0;
  let bids: Placed[] | undefined;
  let last: RemainingBudget | undefined;
  return {
    async remaining() {
      const spenders = [...(await look()), ...(bids ??= await bidsOf(context, task))];
      last = remainingBudget({ task, agent, config: context.config, own: conversation.usage(), children: spenders });
      return last;
    },
    async costs() {
      const costs = costsOf(conversation.usage(), [...(await look()), ...(await subtasks(context, task))]);
      const short = last?.short()?.budget;
      return short === undefined ? costs : { ...costs, short };
    },
  };

  async function look(): Promise<Placed[]> {
    const messages = conversation.mine();
    if (messages.length < seen) seen = ids.length = 0; // a person removed messages
    ids.push(...askedIn(context, task, messages, seen));
    seen = messages.length;
    for (const id of ids) {
      const before = children.get(id);
      if (before !== undefined && (isEnded(before.state) || context.tasks.isOpen(id))) continue;
      const now = await context.tasks.read(id);
      if (now !== undefined) children.set(id, now);
    }
    return ids.flatMap((id) => children.get(id) ?? []);
  }
}
