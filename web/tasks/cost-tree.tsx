/** The tree of a run with what each task cost: by itself, and with everything below it. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TreeRow } from '../../src/web/base/contract.ts';
import { useKeys } from '../keys.ts';
import { address, go } from '../router.ts';
import { count, money } from '../text.ts';
import { VirtualRows } from './virtual-rows.tsx';
import { isClosed, TreeCell, useTreeRows, type ChosenRows } from './tree-rows.tsx';

export function CostTree({ rows, chosen, choose }: ChosenRows): JSX.Element {
  const { shown, here, folds, toggle, keys } = useTreeRows({ rows, chosen, choose });
  const totals = useMemo(() => totalsOf(rows), [rows]);
  const most = Math.max(...totals, 1);
  useKeys({
    ...keys,
    Enter: () => {
      const row = rows[chosen];
      if (row?.isGroup === true) toggle(row.id);
      else if (row !== undefined) go(address('task', row.id));
    },
  });
  return (
    <div class="wf ctree">
      <div class="wfr wfh">
        <span class="t">Task</span>
        <span class="num">Tokens</span>
        <span class="num">Own</span>
        <span class="num">Total</span>
        <span>Share</span>
      </div>
      <VirtualRows
        rows={shown}
        chosen={here}
        draw={({ row, i, hasChildren }) => (
          <div key={row.id} class={i === chosen ? 'wfr sel' : 'wfr'} onClick={() => choose(i)}>
            <TreeCell
              row={row}
              fold={hasChildren ? { isClosed: isClosed(row, folds), toggle: () => toggle(row.id) } : undefined}
            />
            <span class="num">{row.own.tokens === 0 ? '' : count(row.own.tokens)}</span>
            <span class="num">{row.own.microUsd === 0 ? '' : money(row.own.microUsd)}</span>
            <span class="num">{totals[i] === 0 ? '' : money(totals[i]!)}</span>
            <meter class="bar" min={0} max={most} value={totals[i]} aria-label="Share of the cost" />
          </div>
        )}
      />
    </div>
  );
}

/** Own cost plus the totals of the children, so that the numbers add up at every row. */
function totalsOf(rows: readonly TreeRow[]): number[] {
  const totals = rows.map((row) => row.own.microUsd);
  const open: number[] = [];
  for (const [i, row] of rows.entries()) {
    while (open.length > 0 && rows[open.at(-1)!]!.depth >= row.depth) open.pop();
    for (const above of open) totals[above]! += row.own.microUsd;
    open.push(i);
  }
  return totals;
}
