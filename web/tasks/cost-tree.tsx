/** The tree of a run with what each task cost: by itself, and with everything below it. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TreeRow } from '../../src/web/base/contract.ts';
import { useKeys } from '../keys.ts';
import { address, go } from '../router.ts';
import { count, money } from '../text.ts';
import { VirtualRows } from './virtual-rows.tsx';
import { turnLevel, isClosed, TreeCell, visibleRows } from './tree-rows.tsx';

interface CostTreeProps {
  rows: readonly TreeRow[];
  chosen: number;
  choose: (at: number) => void;
}

export function CostTree({ rows, chosen, choose }: CostTreeProps): JSX.Element {
  const [folds, setFolds] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => visibleRows(rows, folds), [rows, folds]);
  const totals = useMemo(() => totalsOf(rows), [rows]);
  const most = Math.max(...totals, 1);
  const here = shown.findIndex(({ i }) => i === chosen);
  const move = (by: number): void => choose(shown[Math.min(shown.length - 1, Math.max(0, here + by))]?.i ?? 0);
  const toggle = (id: string): void => {
    const next = new Set(folds);
    if (!next.delete(id)) next.add(id);
    setFolds(next);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    '[': () => setFolds(turnLevel(rows, folds, 'closed')),
    ']': () => setFolds(turnLevel(rows, folds, 'open')),
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
