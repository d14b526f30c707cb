/** Draws only the rows on the screen, in the order of the query or as trees. */
import { computed, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row, ViewRows } from '../../src/web/base/contract.ts';
import { connection } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Empty, Id, ProblemBox, Taint, TaskLink, TaskState } from '../parts.tsx';
import { address, go } from '../router.ts';
import { agentText, ago, count, money, plural, visible } from '../text.ts';
import { momentIso } from '../moment.ts';
import { useTint } from '../tint.ts';
import { FoldButton } from './tree-rows.tsx';
import { useView, type Fold, type View } from './view.ts';

/** A row has two lines on a phone. */
const phone = matchMedia('(max-width: 760px)');
const rowPx = signal(rowHeight());
phone.addEventListener('change', () => (rowPx.value = rowHeight()));

function rowHeight(): number {
  return phone.matches ? 56 : 34;
}

/** Rows are drawn in steps of this many, so that scrolling a few rows draws nothing. */
const STEP = 10;
/** A list that a person touched this recently does not move by itself. */
const STILL_MS = 2000;

/** The totals of the last query. */
export const totals = signal<(Pick<ViewRows, 'total' | 'all'> & { where: string }) | undefined>(undefined);

export function List({ where, isTree }: { where: string; isTree: boolean }): JSX.Element {
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(600);
  const scroll = useRef<HTMLDivElement>(null);
  // Reading it from the element would lay the page out in the middle of a frame.
  const top = useRef(0);
  const firstRow = (): number => Math.floor(top.current / rowPx.value);
  const [fold, setFold] = useState<Fold>(OPEN);
  const view = useView(where, isTree ? fold : undefined, { first, count: Math.ceil(height / rowPx.value), firstRow });
  const { total = 0, all = 0, from = 0, rows = [] } = view.page ?? {};
  useEffect(() => {
    const box = scroll.current;
    if (box === null) return undefined;
    const look = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height));
    look.observe(box);
    return () => look.disconnect();
  }, []);
  useEffect(() => {
    if (view.page !== undefined) totals.value = { where, total, all };
  }, [total, all]);
  const [chosen, setChosen] = useChosen(view);
  useLayoutEffect(() => {
    if (view.moved === 0) return;
    top.current = Math.max(0, top.current + view.moved * rowPx.value);
    scroll.current!.scrollTop = top.current;
    setFirst(Math.floor(firstRow() / STEP) * STEP);
    view.settled();
  }, [view.moved]);
  const still = useStillness(view, top);
  const tinted = useTint(view.page?.rows, {
    id: ({ id }) => id,
    text: (row) => ('isGone' in row ? '' : `${row.state} ${row.agent} ${row.title}`),
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
  const turn = (id: string): void => setFold(turnedFold(fold, id));
  useKeys({
    ...(isTree && foldKeys({ fold, setFold, row, deepest: view.page?.deepest ?? 0 })),
    j: () => choose(1),
    k: () => choose(-1),
    ArrowDown: () => choose(1),
    ArrowUp: () => choose(-1),
    Enter: () => row !== undefined && !('isGone' in row) && go(address('task', row.id)),
  });
  if (view.problem !== undefined) return <ProblemBox problem={view.problem} />;
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
          still.scrolled();
          setFirst(Math.floor(top.current / rowPx.value / STEP) * STEP);
        }}
        onPointerMove={still.touched}
        onPointerDown={still.touched}
        onKeyDown={still.touched}
        tabIndex={0}
        aria-label={`${total} tasks`}
      >
        {still.isBehind && (
          <button type="button" class="btn sm fresh" onClick={() => view.renew(view.page!.added > 0)}>
            {view.page!.added > 0 ? `${count(view.page!.added)} new` : 'Update the order'}
          </button>
        )}
        {view.page !== undefined && total === 0 && <Nothing where={where} view={isTree ? 'tree' : 'list'} />}
        <div class="tall" style={{ height: `${total * rowPx.value}px` }}>
          <div class="trows" style={{ transform: `translateY(${start * rowPx.value}px)` }}>
            {drawn.map((each, i) => {
              const look = `tr${start + i === chosen ? ' on' : ''}${tinted.has(each.id) ? ' tint' : ''}`;
              if (!('isGone' in each))
                return <TaskRow key={each.id} row={each} look={look} turn={isTree ? turn : undefined} />;
              return (
                <div key={each.id} class={`${look} dim`}>
                  <span>Removed</span>
                  <code class="title one">{visible(each.id)}</code>
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/**
 * The row that the keyboard is on. It stays the same task when the list gets another order, unless
 * it is the first row.
 */
function useChosen({ page }: View): [chosen: number, set: (next: number) => void] {
  const [chosen, setChosen] = useState(0);
  const known = useRef<{ view?: string; id?: string }>({});
  useLayoutEffect(() => {
    if (page === undefined) return;
    const { view, id } = known.current;
    known.current.view = page.view;
    const now = view === page.view || chosen === 0 ? -1 : page.rows.findIndex((row) => row.id === id);
    if (now !== -1 && page.from + now !== chosen) setChosen(page.from + now);
    else known.current.id = page.rows[chosen - page.from]?.id ?? id;
  });
  return [chosen, setChosen];
}

/**
 * A list at its top that nobody touches shows a new order at once. Otherwise it waits for the
 * person.
 */
function useStillness(view: View, top: { current: number }) {
  const [isAtTop, setAtTop] = useState(true);
  const touchedAt = useRef(-Infinity);
  const isOther = view.page?.next !== undefined;
  useLayoutEffect(() => {
    if (!isOther || !isAtTop) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const renew = (): void => {
      const wait = touchedAt.current + STILL_MS - performance.now();
      if (wait > 0) timer = setTimeout(renew, wait);
      else view.renew(true);
    };
    renew();
    return () => clearTimeout(timer);
  }, [view.page, isAtTop, connection.value.live]);
  return {
    isBehind: isOther && !isAtTop,
    touched: () => void (touchedAt.current = performance.now()),
    scrolled: () => setAtTop(top.current === 0),
  };
}

export function Nothing({ where, view }: { where: string; view: string }): JSX.Element {
  return (
    <Empty icon="tasks" title={where === '' ? 'No tasks yet' : 'No task matches'}>
      {where === '' ? (
        'Add one with C, or drop a file into tasks/pending/.'
      ) : (
        <>
          <code>{visible(where)}</code>{' '}
          <a class="link" href={`#/tasks?view=${view}`}>
            Clear
          </a>
        </>
      )}
    </Empty>
  );
}

const OPEN: Fold = { turned: [] };

function turnedFold({ depth, turned }: Fold, id: string): Fold {
  const next = turned.includes(id) ? turned.filter((each) => each !== id) : [...turned, id];
  return { ...(depth === undefined ? {} : { depth }), turned: next };
}

interface FoldKeys {
  fold: Fold;
  setFold: (next: Fold) => void;
  /** The row that the keyboard is on. */
  row: ViewRows['rows'][number] | undefined;
  deepest: number;
}

/** The arrows fold the chosen task, the brackets a whole level. */
function foldKeys({ fold, setFold, row, deepest }: FoldKeys): Record<string, () => void> {
  const turnTo = (isClosed: boolean): void => {
    if (row !== undefined && 'fold' in row && row.fold?.isClosed === !isClosed) setFold(turnedFold(fold, row.id));
  };
  const depth = Math.min(fold.depth ?? deepest, deepest);
  return {
    ArrowLeft: () => turnTo(true),
    ArrowRight: () => turnTo(false),
    '[': () => setFold({ depth: Math.max(0, depth - 1), turned: [] }),
    ']': () => setFold(depth + 1 < deepest ? { depth: depth + 1, turned: [] } : OPEN),
  };
}

interface TaskRowProps {
  row: Row;
  look: string;
  /** Closes or opens a task of a tree. */
  turn: ((id: string) => void) | undefined;
}

function TaskRow({ row, look, turn }: TaskRowProps): JSX.Element {
  // A signal, so that a tick of the clock changes the text without drawing the row again.
  const at = row.endedAt ?? row.createdAt;
  const when = useMemo(() => computed(() => ago(at)), [at]);
  return (
    <div class={look}>
      <span>
        <TaskState row={row} />
      </span>
      <span class={`title d${Math.min(row.depth ?? 0, 8)}`}>
        {turn !== undefined && (
          <FoldButton
            title={row.title}
            fold={row.fold && { isClosed: row.fold.isClosed, toggle: () => turn(row.id) }}
          />
        )}
        <TaskLink id={row.id} title={row.title} />
        {row.fold?.isClosed === true && (
          <span class="below" title={`${plural(row.fold.below, 'task')} below it`}>
            {count(row.fold.below)}
          </span>
        )}
        <Taint sources={row.taint ?? []} />
      </span>
      <span class="hide one who">{agentText(row.agent)}</span>
      <span class="hide">
        <Id id={row.id} short={row.short} />
      </span>
      <span class="num hide">{row.tokens === 0 ? '' : count(row.tokens)}</span>
      <span class="num">{row.microUsd === 0 ? '' : money(row.microUsd)}</span>
      <span class="num">{when}</span>
    </div>
  );
}
