/** A limit and what is used of it: spent is solid, reserved is hatched. */
import type { JSX } from 'preact';
import type { Spend } from '../../src/web/base/contract.ts';
import { money, plural } from '../text.ts';

export function UseBar({ spent, reserved, limit }: { spent: number; reserved: number; limit: number }): JSX.Element {
  const part = (value: number): string => `${Math.min(100, (value / Math.max(1, limit)) * 100)}%`;
  return (
    <span class="use" aria-hidden="true">
      <i style={{ width: part(spent) }} />
      <i class="reserved" style={{ width: part(reserved) }} />
    </span>
  );
}

/** In words: how many tasks have a limit, and how many have none. */
export function limitWords({ tasks, unlimited }: NonNullable<Spend['budget']>): string {
  const none = unlimited === 0 ? '' : `; ${plural(unlimited, 'open task')} without a limit`;
  return `Spent today, and what ${plural(tasks, 'open task')} may still spend${none}`;
}

/** In the top bar: today's spending against what today can cost at most. */
export function SpentToday({ spend }: { spend: Spend }): JSX.Element {
  const { microUsd, unpricedCalls, budget } = spend;
  const spent = (
    <>
      Today <b>{money(microUsd, unpricedCalls)}</b>
    </>
  );
  if (budget === undefined) return <span class="stat wide">{spent}</span>;
  return (
    <a class="stat wide today" href="#/costs" title={limitWords(budget)}>
      {spent} of {money(budget.limit)}
      <UseBar spent={microUsd} reserved={budget.reserved} limit={budget.limit} />
    </a>
  );
}
