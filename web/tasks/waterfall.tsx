/**
 * The tree of a run and its time in one row. `[` and `]` fold and unfold a level, `+`, `-` and `0`
 * zoom, the arrows pan, and the strip above shows the whole run. Only rows on the screen are drawn.
 */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Span, TaskSpans, TreeRow } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Track } from '../lanes.tsx';
import { TaskLink, TaskState } from '../parts.tsx';
import { address, go } from '../router.ts';
import { count, duration, money, now, visible } from '../text.ts';
import { axisOf, type Axis } from './axis.ts';
import { ALL, Brush, panned, zoomed, type Zoom } from './brush.tsx';

interface WaterfallProps {
  rows: readonly TreeRow[];
  chosen: number;
  choose: (at: number) => void;
  /** The run whose finer spans can be read, if some are drawn as one. */
  mergedOf?: string | undefined;
}

export function Waterfall({ rows, chosen, choose, mergedOf }: WaterfallProps): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(ALL);
  const isOpen = rows.some(({ endedAt }) => endedAt === undefined);
  const clock = isOpen ? now.value : 0;
  const axis = useMemo(() => axisOf(rows, clock), [rows, clock]);
  const all = useMemo(() => rows.flatMap((row) => row.spans), [rows]);
  const shown = useMemo(() => visibleRows(rows, closed), [rows, closed]);
  const toggle = (id: string): void => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const move = (by: number): void => {
    const here = shown.findIndex(({ i }) => i === chosen);
    choose(shown[Math.min(shown.length - 1, Math.max(0, here + by))]?.i ?? 0);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    '[': () => setClosed(new Set(rows.filter((row) => row.depth >= 1).map((row) => row.id))),
    ']': () => setClosed(new Set()),
    '+': () => setZoom(zoomed(zoom, 0.5)),
    '-': () => setZoom(zoomed(zoom, 2)),
    '0': () => setZoom(ALL),
    ArrowLeft: () => setZoom(panned(zoom, -0.2)),
    ArrowRight: () => setZoom(panned(zoom, 0.2)),
    Enter: () => {
      const { session, id } = rows[chosen] ?? {};
      if (session !== undefined) go(address('conversation', session));
      else if (id !== undefined) go(address('task', id));
    },
  });
  const isFine = mergedOf !== undefined && zoom !== ALL;
  const body = (fine?: TaskSpans): JSX.Element => (
    <Rows
      shown={shown}
      closed={closed}
      toggle={toggle}
      chosen={chosen}
      choose={choose}
      axis={axis}
      zoom={zoom}
      fine={fine}
    />
  );
  return (
    <div class="wf">
      <div class="wfr wfb">
        <span class="dim hint">
          Drag to zoom, or <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd>
          {axis.folds.length > 0 && '. Gaps over 1 min are folded.'}
        </span>
        <Brush spans={all} axis={axis} zoom={zoom} setZoom={setZoom} />
      </div>
      <div class="wfr wfh">
        <span class="t">Task</span>
        <span class="num">Time</span>
        <span class="num">Cost</span>
        <Ticks axis={axis} zoom={zoom} />
      </div>
      {isFine ? <Finer id={mergedOf} axis={axis} zoom={zoom} body={body} /> : body()}
    </div>
  );
}

/** The spans of the visible part, in the detail that it can show. */
function Finer({ id, axis, zoom, body }: FinerProps): JSX.Element {
  const from = Math.floor(axis.timeAt(zoom.from));
  const to = Math.ceil(axis.timeAt(zoom.to));
  const { data } = useRead<TaskSpans>(`/api/tasks/${encodeURIComponent(id)}/spans?from=${from}&to=${to}`);
  return body(data.value);
}

interface FinerProps {
  id: string;
  axis: Axis;
  zoom: Zoom;
  body: (fine?: TaskSpans) => JSX.Element;
}

function Ticks({ axis, zoom }: { axis: Axis; zoom: Zoom }): JSX.Element {
  const size = zoom.to - zoom.from;
  const ms = (part: number): number => axis.timeAt(zoom.from + part * size) - axis.first;
  return (
    <span class="ticks">
      {[0, 0.25, 0.5, 0.75].map((part) => (
        <span key={part}>{duration(ms(part))}</span>
      ))}
      {axis.folds
        .map(({ from, to, ms: long }) => ({ at: ((from + to) / 2 - zoom.from) / size, long }))
        .filter(({ at }) => at > 0 && at < 1)
        .map(({ at, long }) => (
          <i key={at} class="foldmark" style={{ left: `${at * 100}%` }} title={`${duration(long)} without work`} />
        ))}
    </span>
  );
}

interface Shown {
  row: TreeRow;
  i: number;
  hasChildren: boolean;
}

interface RowsProps {
  shown: readonly Shown[];
  closed: ReadonlySet<string>;
  toggle: (id: string) => void;
  chosen: number;
  choose: (at: number) => void;
  axis: Axis;
  zoom: Zoom;
  fine: TaskSpans | undefined;
}

/** More rows than this scroll in a box of their own. */
const ROWS_MAX = 60;
const AROUND = 20;
const ROW_PX = 30;

function Rows({ shown, closed, toggle, chosen, choose, axis, zoom, fine }: RowsProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [rowPx, setRowPx] = useState(ROW_PX);
  const isLong = shown.length > ROWS_MAX;
  const first = isLong ? Math.max(0, Math.floor(top / rowPx) - AROUND) : 0;
  const drawn = isLong ? shown.slice(first, first + ROWS_MAX + AROUND) : shown;
  const here = shown.findIndex(({ i }) => i === chosen);
  useEffect(() => {
    const height = box.current?.querySelector<HTMLElement>('.wfr')?.offsetHeight;
    if (height !== undefined && height > 0) setRowPx(height);
  }, [isLong]);
  useEffect(() => {
    const { current } = box;
    if (!isLong || current === null || here === -1) return;
    const at = here * rowPx;
    if (at < current.scrollTop) current.scrollTop = at;
    if (at + rowPx > current.scrollTop + current.clientHeight) current.scrollTop = at + rowPx - current.clientHeight;
  }, [here]);
  return (
    <div
      class={isLong ? 'wfscroll' : ''}
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      {...(isLong ? { role: 'region', tabIndex: 0, 'aria-label': `${count(shown.length)} tasks` } : {})}
    >
      <div style={{ height: `${first * rowPx}px` }} />
      {drawn.map(({ row, i, hasChildren }) => (
        <WaterfallRow
          key={row.id}
          row={row}
          spans={fine?.spans[row.id] ?? row.spans}
          isChosen={i === chosen}
          choose={() => choose(i)}
          fold={hasChildren ? { isClosed: closed.has(row.id), toggle: () => toggle(row.id) } : undefined}
          axis={axis}
          zoom={zoom}
        />
      ))}
      <div style={{ height: `${Math.max(0, shown.length - first - drawn.length) * rowPx}px` }} />
    </div>
  );
}

interface RowProps {
  row: TreeRow;
  spans: readonly Span[];
  isChosen: boolean;
  choose: () => void;
  fold: { isClosed: boolean; toggle: () => void } | undefined;
  axis: Axis;
  zoom: Zoom;
}

function WaterfallRow({ row, spans, isChosen, choose, fold, axis, zoom }: RowProps): JSX.Element {
  return (
    <div class={isChosen ? 'wfr sel' : 'wfr'} onClick={choose}>
      <span class={`t d${Math.min(row.depth, 8)}`}>
        {fold === undefined ? (
          <span class="tw" />
        ) : (
          <button
            type="button"
            class={fold.isClosed ? 'tw' : 'tw open'}
            aria-label={`${fold.isClosed ? 'Unfold' : 'Fold'} ${visible(row.title)}`}
            onClick={fold.toggle}
          >
            <Icon name="right" small />
          </button>
        )}
        <TaskState row={row} plain brief />
        <TaskLink id={row.id} title={row.title} />
        <span class="dim">{row.agent === 'human' ? 'you' : visible(row.agent ?? '')}</span>
      </span>
      <span class="num">{duration(endOf(row) - Date.parse(row.createdAt))}</span>
      <span class="num">{row.microUsd === 0 ? '' : money(row.microUsd)}</span>
      <Track spans={spans} axis={axis} zoom={zoom} />
    </div>
  );
}

function endOf(row: TreeRow): number {
  return row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
}

function visibleRows(rows: readonly TreeRow[], closed: ReadonlySet<string>): Shown[] {
  const out: Shown[] = [];
  let hiddenBelow = Infinity;
  for (const [i, row] of rows.entries()) {
    if (row.depth > hiddenBelow) continue;
    hiddenBelow = closed.has(row.id) ? row.depth : Infinity;
    out.push({ row, i, hasChildren: (rows[i + 1]?.depth ?? 0) > row.depth });
  }
  return out;
}
