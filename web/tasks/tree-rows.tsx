/** Rows of a tree that can be folded, and the cell that names a task in it. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TreeRow } from '../../src/web/base/contract.ts';
import { Icon } from '../icons.tsx';
import { TaskLink, TaskState } from '../parts.tsx';
import { agentText, visible } from '../text.ts';

export interface ShownRow {
  row: TreeRow;
  /** Its place among all rows. */
  i: number;
  hasChildren: boolean;
}

/** The rows of a tree, and which of them is chosen. */
export interface ChosenRows {
  rows: readonly TreeRow[];
  chosen: number;
  choose: (at: number) => void;
}

/** The rows that are not folded away, and the keys that move between them and fold them. */
export function useTreeRows({ rows, chosen, choose }: ChosenRows) {
  const [folds, setFolds] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => visibleRows(rows, folds), [rows, folds]);
  const here = shown.findIndex(({ i }) => i === chosen);
  const move = (by: number): void => choose(shown[Math.min(shown.length - 1, Math.max(0, here + by))]?.i ?? 0);
  const toggle = (id: string): void => {
    const next = new Set(folds);
    if (!next.delete(id)) next.add(id);
    setFolds(next);
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    '[': () => setFolds(turnLevel(rows, folds, 'closed')),
    ']': () => setFolds(turnLevel(rows, folds, 'open')),
  };
  return { shown, here, folds, toggle, keys };
}

/** A group has a summary, so it starts closed. `folds`: the rows whose default was changed. */
export function isClosed(row: TreeRow, folds: ReadonlySet<string>): boolean {
  return folds.has(row.id) !== (row.isGroup === true);
}

/** The folds after the deepest open level was closed, or the highest closed one opened. */
function turnLevel(rows: readonly TreeRow[], folds: ReadonlySet<string>, to: 'closed' | 'open'): Set<string> {
  const parents = visibleRows(rows, folds).flatMap(({ row, hasChildren }) =>
    hasChildren && isClosed(row, folds) === (to === 'open') ? row : [],
  );
  const depths = parents.map(({ depth }) => depth);
  const level = to === 'open' ? Math.min(...depths) : Math.max(...depths);
  const turned = new Set(folds);
  for (const { depth, id } of parents) if (depth === level && !turned.delete(id)) turned.add(id);
  return turned;
}

export interface Fold {
  isClosed: boolean;
  toggle: () => void;
}

function visibleRows(rows: readonly TreeRow[], folds: ReadonlySet<string>): ShownRow[] {
  const out: ShownRow[] = [];
  let hiddenBelow = Infinity;
  for (const [i, row] of rows.entries()) {
    if (row.depth > hiddenBelow) continue;
    hiddenBelow = isClosed(row, folds) ? row.depth : Infinity;
    out.push({ row, i, hasChildren: (rows[i + 1]?.depth ?? 0) > row.depth });
  }
  return out;
}

/** `fold`: absent if nothing is below it; then only its place is kept. */
export function FoldButton({ title, fold }: { title: string; fold: Fold | undefined }): JSX.Element {
  if (fold === undefined) return <span class="tw" />;
  return (
    <button
      type="button"
      class={fold.isClosed ? 'tw' : 'tw open'}
      aria-expanded={!fold.isClosed}
      aria-label={`${fold.isClosed ? 'Unfold' : 'Fold'} ${visible(title)}`}
      onClick={fold.toggle}
    >
      <Icon name="right" small />
    </button>
  );
}

export function TreeCell({ row, fold }: { row: TreeRow; fold: Fold | undefined }): JSX.Element {
  return (
    <span class={`t d${Math.min(row.depth, 8)}`}>
      <FoldButton title={row.title} fold={fold} />
      <TaskState row={row} plain brief />
      {row.isGroup === true ? (
        <span class="one">{visible(row.title)}</span>
      ) : (
        <TaskLink id={row.id} title={row.title} />
      )}
      <span class="dim">{agentText(row.agent)}</span>
    </span>
  );
}
