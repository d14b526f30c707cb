/**
 * The rows of a query, in the order that they had when it ran. The rows themselves are current; a
 * new order is shown only when the list asks for it, so that nothing moves under the pointer.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ViewOpened, ViewRows } from '../../src/web/base/contract.ts';
import type { Problem } from '../../src/domain/problem.ts';
import { connection, post, readAgain, useRead } from '../api.ts';
import { momentIso } from '../moment.ts';

interface Screen {
  /** The first row to draw, and how many are on the screen. */
  first: number;
  count: number;
  /** The row at the top. */
  firstRow: () => number;
}

/** Tasks at this depth or deeper are folded and all others open, except those in `turned`. */
export interface Fold {
  /** Absent: all are open. */
  depth?: number;
  turned: readonly string[];
}

export interface View {
  /** The last answer stays until the next one has arrived. */
  page: ViewRows | undefined;
  problem: Problem | undefined;
  /** By how many rows the list has to scroll for this page; the list says when that is done. */
  moved: number;
  settled: () => void;
  /** Runs the query again. The row at the top stays there, or the list goes to its top. */
  renew: (toTop: boolean) => void;
}

/** Rows are read in blocks of this many, one block more on each side than are on the screen. */
const BLOCK = 40;

/** `fold`: absent for a list. */
export function useView(where: string, fold: Fold | undefined, { first, count, firstRow }: Screen): View {
  const [view, setView] = useState<{ id: string; moved: number }>();
  const [refused, setRefused] = useState<Problem>();
  const [isLost, setLost] = useState(false);
  const page = useRef<ViewRows>(undefined);
  const asked = useRef(0);
  /** The view before this one. Its rows are known, in their earlier state. */
  const before = useRef<string>(undefined);
  const at = momentIso.value;
  const isLive = connection.value.live;

  const wanted = Math.max(0, first + (view?.moved ?? 0));
  const from = Math.max(0, Math.floor(wanted / BLOCK) - 1) * BLOCK;
  const to = from + (Math.ceil(count / BLOCK) + 3) * BLOCK;
  const path = view && `/api/views/${view.id}?from=${from}&to=${to}`;
  const read = useRead<ViewRows>(path, true);
  if (read.data.value !== undefined && read.data.value.view === view?.id) page.current = read.data.value;

  const open = async (toTop: boolean): Promise<void> => {
    const turn = ++asked.current;
    const top = firstRow();
    const keep = toTop ? undefined : page.current?.rows[top - page.current.from]?.id;
    const query = { where, order: fold === undefined ? 'list' : 'tree', at, keep, fold };
    const opened = await post<ViewOpened>('/api/views', query).catch(() => undefined);
    if (turn !== asked.current) return undefined;
    setLost(opened === undefined);
    if (opened === undefined) return undefined;
    if ('problem' in opened) return setRefused(opened.problem);
    setRefused(undefined);
    if (opened.view !== view?.id) before.current = view?.id;
    setView({ id: opened.view, moved: toTop ? -Infinity : opened.index === -1 ? 0 : opened.index - top });
    if (path !== undefined && opened.view === view?.id) readAgain(path);
    return undefined;
  };
  // The server forgets a view that has not been read for a while, and all views when it stops.
  const isGone = read.problem.value?.code === 'not_found';
  const isMissing = isGone || isLost;
  useEffect(() => void open(false), [at, fold]);
  useEffect(() => void (isLive && isMissing && open(false)), [isLive, isMissing]);
  return {
    page: page.current,
    problem: refused ?? (isGone ? undefined : read.problem.value),
    moved: view !== undefined && page.current?.view === view.id ? view.moved : 0,
    settled: () => setView((now) => now && { ...now, moved: 0 }),
    renew(toTop) {
      const next = page.current?.next;
      // An undo leads back to an earlier view.
      if (!toTop || next === undefined || next === before.current) return void open(toTop);
      asked.current++;
      before.current = view?.id;
      return setView({ id: next, moved: -Infinity });
    },
  };
}
