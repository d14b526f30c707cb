/** Tasks as rows of lists: a title, a short id, state, cost. */
import { defined } from '../../domain/defined.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Placed } from '../../domain/task/task.js';
import { HUMAN } from '../../domain/task/task.js';
import type { Usage as TaskUsage } from '../../domain/budget/usage.js';
import { summary } from '../../views/summary.js';
import type { Row, Usage } from '../base/contract.js';
import { titleOf } from '../base/title.js';

export function rowOf({ task, state, owner }: Placed): Row {
  const usage = task.usage ?? task.own_usage;
  return defined({
    id: task.id,
    short: shortOf(task.id),
    title: rowTitle(task),
    agent: agentOf({ task, owner }),
    role: task.role,
    state,
    code: task.error === undefined ? undefined : task.error.code,
    parent: task.parent,
    createdAt: task.created_at,
    endedAt: task.ended_at,
    tokens: (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
    microUsd: usage?.microUsd ?? 0,
  });
}

/** Until its first turn has ended, only the claim names the agent of a task without `to`. */
export function agentOf({ task, owner }: Pick<Placed, 'task' | 'owner'>): string | undefined {
  return task.to ?? claimant(owner?.agent);
}

/** The program claims a task in the name of nobody while it looks for an agent. */
export function claimant(agent: string | undefined): string | undefined {
  return agent === 'nobody' ? undefined : agent;
}

/**
 * In a list of tasks, bids and checks are labelled as such, because their answer alone would read
 * like a request.
 */
export function rowTitle(task: Parameters<typeof summary>[0]): string {
  const title = titleOf(summary(task));
  if (task.result === undefined) return title;
  const { isBid, prompt } = roleFacts(task.role);
  return isBid ? `Bid: ${title}` : prompt === 'check' ? `Check: ${title}` : title;
}

export function titled(text: string, titleOfTask: (id: string) => string | undefined): string {
  return text.replace(/[\w.-]+/g, (word) => {
    const end = /\.*$/.exec(word)!.index;
    const title = titleOfTask(word.slice(0, end));
    return title === undefined ? word : `“${title}”${word.slice(end)}`;
  });
}

/** The end of an id: enough to recognize it beside its title. The full id is one click away. */
export function shortOf(id: string): string {
  const end = id.slice(id.lastIndexOf('.') + 1);
  return end.length > 24 ? `${end.slice(0, 23)}…` : end;
}

export function usageOf(usage: TaskUsage | undefined): Usage {
  const { turns = 0, toolCalls = 0, inputTokens = 0, outputTokens = 0, cachedTokens = 0, microUsd = 0 } = usage ?? {};
  return { turns, toolCalls, inputTokens, outputTokens, cachedTokens, microUsd };
}

export function isForPerson({ task }: Placed): boolean {
  return task.to === HUMAN;
}
