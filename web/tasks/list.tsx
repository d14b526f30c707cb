/** Draws only the rows on the screen, in the order of the query or as trees. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
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

const AROUND = 40;

/** The totals of the last query. */
export const totals = signal<Pick<TaskPage, 'total' | 'all'> | undefined>(undefined);

export function List({ where, isTree }: { where: string; isTree: boolean }): JSX.Element {
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(600);
  const [chosen, setChosen] = useState(0);
  const scroll = useRef<HTMLDivElement>(null);
  const shown = useRows(where, isTree, first, height);
  useEffect(() => {
    const box = scroll.current;
    if (box === null) return undefined;
    const look = new ResizeObserver(() => setHeight(box.clientHeight));
    look.observe(box);
    return () => look.disconnect();
  }, []);
  const total = shown.page?.total ?? 0;
  const from = shown.page?.from ?? 0;
  const rows = shown.page?.rows ?? [];
  const fresh = useStillRows(scroll, shown.page);
  const tinted = useTint(shown.page?.rows, {
    id: ({ id }) => id,
    text: ({ state, title, agent }) => `${state} ${agent} ${title}`,
    scope: `${where} ${isTree} ${from} ${momentIso.value}`,
  });
  const choose = (by: number): void => {
    const next = Math.min(total - 1, Math.max(0, chosen + by));
    setChosen(next);
    const box = scroll.current;
    const at = next * rowPx.value;
    if (box !== null && (at < box.scrollTop || at + rowPx.value > box.scrollTop + box.clientHeight))
      box.scrollTop = at - box.clientHeight / 2;
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
        onScroll={(event) => setFirst(blockAt(event.currentTarget.scrollTop))}
        tabIndex={0}
        aria-label={`${total} tasks`}
      >
        {fresh.count > 0 && (
          <button type="button" class="btn sm fresh" onClick={fresh.show}>
            {fresh.count} new
          </button>
        )}
        {shown.page !== undefined && total === 0 && <Nothing where={where} />}
        <Spacer rows={from} />
        {rows.map((each, i) => (
          <TaskRow
            key={each.id}
            row={each}
            look={`tr${from + i === chosen ? ' on' : ''}${tinted.has(each.id) ? ' tint' : ''}`}
          />
        ))}
        <Spacer rows={Math.max(0, total - from - rows.length)} />
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
  page: TaskPage | undefined,
): { count: number; show: () => void } {
  const [count, setCount] = useState(0);
  const before = useRef<{ page: TaskPage; first: number }>(undefined);
  useLayoutEffect(() => {
    const box = scroll.current;
    if (box === null || page === undefined) return;
    const { page: old, first } = before.current ?? { page, first: 0 };
    const anchor = old.rows[first - old.from]?.id;
    const now = page.rows.findIndex(({ id }) => id === anchor);
    const moved = anchor === undefined || now === -1 ? 0 : page.from + now - first;
    if (box.scrollTop > 0 && moved !== 0) {
      box.scrollTop += moved * rowPx.value;
      setCount((known) => Math.max(0, known + moved));
    }
    before.current = { page, first: Math.floor(box.scrollTop / rowPx.value) };
  }, [page]);
  useEffect(() => {
    const box = scroll.current;
    const look = (): void => {
      if (box === null || before.current === undefined) return;
      before.current.first = Math.floor(box.scrollTop / rowPx.value);
      if (box.scrollTop === 0) setCount(0);
    };
    box?.addEventListener('scroll', look, { passive: true });
    return () => box?.removeEventListener('scroll', look);
  }, []);
  return { count, show: () => void (scroll.current !== null && (scroll.current.scrollTop = 0)) };
}

/** The rows around the visible ones. The last answer stays until the next one is there. */
function useRows(where: string, isTree: boolean, from: number, height: number) {
  const to = from + Math.ceil((height / rowPx.value + 3 * AROUND) / AROUND) * AROUND;
  const order = isTree ? '&order=tree' : '';
  const { data, problem } = useRead<TaskPage>(
    `/api/tasks?where=${encodeURIComponent(where)}&from=${from}&to=${to}${order}`,
  );
  const [kept, setKept] = useState<TaskPage>();
  useEffect(() => {
    if (data.value === undefined) return;
    setKept(data.value);
    const { total, all } = data.value;
    totals.value = { total, all };
  }, [data.value]);
  return { page: data.value ?? kept, problem: problem.value };
}

/** The first row to request. It changes in steps, so scrolling a few rows redraws nothing. */
function blockAt(top: number): number {
  const first = Math.max(0, Math.floor(top / rowPx.value) - AROUND);
  return Math.floor(first / AROUND) * AROUND;
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

/** Height without rows; set by script, which the policy for styles allows. */
function Spacer({ rows }: { rows: number }): JSX.Element {
  return <div style={{ height: `${rows * rowPx.value}px` }} />;
}

function TaskRow({ row, look }: { row: Row; look: string }): JSX.Element {
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
      <span class="num">{ago(row.endedAt ?? row.createdAt)}</span>
    </div>
  );
}
