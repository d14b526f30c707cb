/** Which open children hold what of their parent's budget. What they do not spend comes back when they end; time is held by nobody. */
import type { Budget } from '../../domain/budget/budget.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { moneyText } from '../../domain/budget/usage.js';

/** A share in the words of files; money in millionths of a dollar. */
export interface Share {
  turns?: number;
  tokens?: number;
  micro_usd?: number;
  tool_calls?: number;
  children?: number;
}

/** By child; those that hold nothing in particular are not among them. */
export function heldShares(children: readonly Placed[]): Map<string, Share> {
  return new Map(
    children.flatMap(({ task, state }) => {
      const share = isEnded(state) ? undefined : shareOf(task.budget ?? {});
      return share === undefined ? [] : [[task.id, share] as const];
    }),
  );
}

export function shareText({ turns, tokens, micro_usd, tool_calls, children }: Share): string {
  const some = (count: number | undefined, one: string): string[] =>
    count === undefined ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`];
  const money = micro_usd === undefined ? [] : [moneyText(micro_usd)];
  const made = children === undefined ? [] : [`${children} ${children === 1 ? 'child' : 'children'}`];
  return [...some(turns, 'turn'), ...some(tokens, 'token'), ...money, ...some(tool_calls, 'tool call'), ...made].join(
    ', ',
  );
}

function shareOf({ timeMs: _, microUsd, toolCalls, ...rest }: Budget): Share | undefined {
  const share: Share = {
    ...rest,
    ...(microUsd === undefined ? {} : { micro_usd: microUsd }),
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
  };
  return Object.keys(share).length === 0 ? undefined : share;
}
