/** Draws only the rows on the screen, in the order of the query or as trees. */
import { computed, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row, TaskPage } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Empty, Id, ProblemBox, Taint, TaskLink, TaskState } from '../parts.tsx';
import { address, go } from '../router.ts';
import { ago, count, money, visible } from '../text.ts';
import { momentIso } from '../moment.ts';
import { useTint } from '../tint.ts';

/** A row has two lines on a phone. */
const phone = matchMedia('(max-width: 760px)');
const rowPx = signal(rowHeight());
phone.addEventListener('change', () => (rowPx.value = rowHeight()));

function rowHeight(): number {
  return phone.matches ? 56 : 34;
}

/** Rows are read in blocks of this many, one block more on each side than are on the screen. */
const BLOCK = 40;
/** Rows are drawn in steps of this many, so that scrolling a few rows draws nothing. */
const STEP = 10;

/** The totals of the last query. */
export const totals = signal<Pick<TaskPage, 'total' | 'all'> | undefined>(undefined);

export function List({ where, isTree }: { where: string; isTree: boolean }): JSX.Element {
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(600);
  const [chosen, setChosen] = useState(0);
  const scroll = useRef<HTMLDivElement>(null);
  // Reading it from the element would lay the page out in the middle of a frame.
  const top = useRef(0);
  const shown = useRows(where, isTree, first, height);
  useEffect(() => {
    const box = scroll.current;
    if (box === null) return undefined;
    const look = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height));
    look.observe(box);
    return () => look.disconnect();
  }, []);
  const { total = 0, from = 0, rows = [] } = shown.page ?? {};
  const fresh = useStillRows(scroll, top, shown.page);
  const tinted = useTint(shown.page?.rows, {
    id: ({ id }) => id,
    text: ({ state, title, agent }) => `${state} ${agent} ${title}`,
    scope: `${where} ${isTree} ${from} ${momentIso.value}`,
  });
  const choose = (by: number): void => {
    const next = Math.min(total - 1, Math.max(0, chosen + by));
    setChosen(next);
    const at = next * rowPx.value;
    if (scroll.current !== null && (at < top.current || at + rowPx.value > top.current + height))
      scroll.current.scrollTop = at - height / 2;
  };
  const row = rows[chosen - from];
  useKeys({
    j: () => choose(1),
    k: () => choose(-1),
    ArrowDown: () => choose(1),
    ArrowUp: () => choose(-1),
    Enter: () => row !== undefined && go(address('task', row.id)),
  });
  if (shown.problem !== undefined) return <ProblemBox problem={shown.problem} />;
  const start = Math.max(from, first - STEP);
  const drawn = rows.slice(start - from, first + Math.ceil(height / rowPx.value) + 2 * STEP - from);
  return (
    <div class="panel tlist">
      <div class="tr thead">
        <span>State</span>
        <span>Task</span>
        <span class="hide">Agent</span>
        <span class="hide">Id</span>
        <span class="num hide">Tokens</span>
        <span class="num">Cost</span>
        <span class="num">When</span>
      </div>
      <div
        class="tscroll"
        role="region"
        ref={scroll}
        onScroll={(event) => {
          top.current = event.currentTarget.scrollTop;
          fresh.scrolled();
          setFirst(Math.floor(top.current / rowPx.value / STEP) * STEP);
        }}
        tabIndex={0}
        aria-label={`${total} tasks`}
      >
        {fresh.count > 0 && (
          <button type="button" class="btn sm fresh" onClick={fresh.show}>
            {fresh.count} new
          </button>
        )}
        {shown.page !== undefined && total === 0 && <Nothing where={where} />}
        <div class="tall" style={{ height: `${total * rowPx.value}px` }}>
          <div class="trows" style={{ transform: `translateY(${start * rowPx.value}px)` }}>
            {drawn.map((each, i) => (
              <TaskRow
                key={each.id}
                row={each}
                look={`tr${start + i === chosen ? ' on' : ''}${tinted.has(each.id) ? ' tint' : ''}`}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/**
 * Keeps the rows under the pointer where they are when others are added above them, and counts
 * those. A list that is at its top shows them at once.
 */
function useStillRows(
  scroll: { current: HTMLDivElement | null },
  top: { current: number },
  page: TaskPage | undefined,
): { count: number; show: () => void; scrolled: () => void } {
  const [count, setCount] = useState(0);
  const before = useRef<{ page: TaskPage; first: number }>(undefined);
  const firstRow = (): number => Math.floor(top.current / rowPx.value);
  useLayoutEffect(() => {
    const box = scroll.current;
    if (box === null || page === undefined) return;
    const { page: old, first } = before.current ?? { page, first: 0 };
    const anchor = old.rows[first - old.from]?.id;
    const now = page.rows.findIndex(({ id }) => id === anchor);
    const moved = anchor === undefined || now === -1 ? 0 : page.from + now - first;
    if (top.current > 0 && moved !== 0) {
      top.current += moved * rowPx.value;
      box.scrollTop = top.current;
      setCount((known) => Math.max(0, known + moved));
    }
    before.current = { page, first: firstRow() };
  }, [page]);
  return {
    count,
    show: () => void (scroll.current !== null && (scroll.current.scrollTop = 0)),
    scrolled: () => {
      if (before.current !== undefined) before.current.first = firstRow();
      if (top.current === 0) setCount(0);
    },
  };
}

/** The rows around the visible ones. The last answer stays until the next one is there. */
function useRows(where: string, isTree: boolean, first: number, height: number) {
  const from = Math.max(0, Math.floor(first / BLOCK) - 1) * BLOCK;
  const to = from + (Math.ceil(height / rowPx.value / BLOCK) + 3) * BLOCK;
  const order = isTree ? '&order=tree' : '';
  const { data, problem } = useRead<TaskPage>(
    `/api/tasks?where=${encodeURIComponent(where)}&from=${from}&to=${to}${order}`,
  );
  const kept = useRef<TaskPage>(undefined);
  kept.current = data.value ?? kept.current;
  const { total, all } = kept.current ?? {};
  useEffect(() => {
    if (total !== undefined && all !== undefined) totals.value = { total, all };
  }, [total, all]);
  return { page: kept.current, problem: problem.value };
}

function Nothing({ where }: { where: string }): JSX.Element {
  return (
    <Empty icon="tasks" title={where === '' ? 'There is no task yet' : 'No task matches'}>
      {where === '' ? (
        'Add one with C, or drop a file into tasks/pending/.'
      ) : (
        <>
          <code>{visible(where)}</code>{' '}
          <a class="link" href="#/tasks">
            Clear
          </a>
        </>
      )}
    </Empty>
  );
}

function TaskRow({ row, look }: { row: Row; look: string }): JSX.Element {
  // As a signal: a tick of the clock changes a text and draws no row.
  const at = row.endedAt ?? row.createdAt;
  const when = useMemo(() => computed(() => ago(at)), [at]);
  return (
    <div class={look}>
      <span>
        <TaskState row={row} />
      </span>
      <span class={`title d${Math.min(row.depth ?? 0, 8)}`}>
        <TaskLink id={row.id} title={row.title} />
        <Taint sources={row.taint ?? []} />
      </span>
      <span class="hide one who">{row.agent === 'human' ? 'you' : visible(row.agent ?? '')}</span>
      <span class="hide">
        <Id id={row.id} short={row.short} />
      </span>
      <span class="num hide">{row.tokens === 0 ? '' : count(row.tokens)}</span>
      <span class="num">{row.microUsd === 0 ? '' : money(row.microUsd)}</span>
      <span class="num">{when}</span>
    </div>
  );
}
