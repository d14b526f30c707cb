/**
 * The shares of a task's budget that its open children hold. A child returns its unspent share when
 * it ends. Time is not shared out.
 */
import { defined } from '../../domain/defined.js';
import type { Budget } from '../../domain/budget/budget.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { moneyText } from '../../domain/budget/usage.js';

/** A share, with the field names that files use. */
export interface Share {
  turns?: number;
  tokens?: number;
  micro_usd?: number;
  tool_calls?: number;
  children?: number;
}

/** By child id. Children without a limited budget are left out. */
export function heldShares(children: readonly Placed[]): Map<string, Share> {
  return new Map(
    children.flatMap(({ task, state }) => {
      const share = isEnded(state) ? undefined : shareOf(task.budget ?? {});
      return share === undefined ? [] : [[task.id, share] as const];
    }),
  );
}

export function shareText({ turns, tokens, micro_usd, tool_calls, children }: Share): string {
  const amount = (count: number | undefined, singular: string, plural = `${singular}s`): string[] =>
    count === undefined ? [] : [`${count} ${count === 1 ? singular : plural}`];
  return [
    ...amount(turns, 'turn'),
    ...amount(tokens, 'token'),
    ...(micro_usd === undefined ? [] : [moneyText(micro_usd)]),
    ...amount(tool_calls, 'tool call'),
    ...amount(children, 'child', 'children'),
  ].join(', ');
}

function shareOf({ timeMs: _, microUsd, toolCalls, ...rest }: Budget): Share | undefined {
  const share = defined<Share>({ ...rest, micro_usd: microUsd, tool_calls: toolCalls });
  return Object.keys(share).length === 0 ? undefined : share;
}
