/**
 * The tree of a run and its time in one row. `[` and `]` fold and unfold a level, `+`, `-` and `0`
 * zoom, the arrows pan, and the strip above shows the whole run and what of it is on the screen.
 */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { TreeRow } from '../../src/web/base/contract.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { Track } from '../lanes.tsx';
import { TaskLink, TaskState } from '../parts.tsx';
import { address, go } from '../router.ts';
import { duration, money, now, visible } from '../text.ts';

interface WaterfallProps {
  rows: readonly TreeRow[];
  chosen: number;
  choose: (at: number) => void;
}

export function Waterfall({ rows, chosen, choose }: WaterfallProps): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [zoom, setZoom] = useState(ALL);
  const first = Math.min(...rows.map((row) => Date.parse(row.createdAt)));
  const last = Math.max(...rows.map(endOf), first + 1);
  const at = (part: number): number => first + part * (last - first);
  const [start, end] = [at(zoom.from), at(zoom.to)];
  const shown = visibleRows(rows, closed);
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
  return (
    <div class="wf">
      <div class="wfr wfb">
        <span class="dim hint">
          Drag to zoom, or <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd>
        </span>
        <Brush rows={rows} first={first} last={last} zoom={zoom} setZoom={setZoom} />
      </div>
      <div class="wfr wfh">
        <span class="t">Task</span>
        <span class="num">Time</span>
        <span class="num">Cost</span>
        <span class="ticks">
          {[0, 0.25, 0.5, 0.75].map((part) => (
            <span key={part}>{duration(start - first + part * (end - start))}</span>
          ))}
        </span>
      </div>
      {shown.map(({ row, i, hasChildren }) => (
        <WaterfallRow
          key={row.id}
          row={row}
          isChosen={i === chosen}
          choose={() => choose(i)}
          fold={hasChildren ? { isClosed: closed.has(row.id), toggle: () => toggle(row.id) } : undefined}
          start={start}
          end={end}
        />
      ))}
    </div>
  );
}

interface RowProps {
  row: TreeRow;
  isChosen: boolean;
  choose: () => void;
  fold: { isClosed: boolean; toggle: () => void } | undefined;
  start: number;
  end: number;
}

function WaterfallRow({ row, isChosen, choose, fold, start, end }: RowProps): JSX.Element {
  return (
    <div class={isChosen ? 'wfr sel' : 'wfr'} onClick={choose}>
      <span class={`t d${Math.min(row.depth, 8)}`}>
        {fold === undefined ? (
          <span class="tw" />
        ) : (
          <button
            type="button"
            class={fold.isClosed ? 'tw' : 'tw open'}
            aria-label={fold.isClosed ? 'Unfold' : 'Fold'}
            onClick={fold.toggle}
          >
            <Icon name="right" small />
          </button>
        )}
        <TaskState row={row} plain brief />
        <TaskLink id={row.id} title={row.title} />
        <span class="dim">{visible(row.agent ?? '')}</span>
      </span>
      <span class="num">{duration(endOf(row) - Date.parse(row.createdAt))}</span>
      <span class="num">{row.microUsd === 0 ? '' : money(row.microUsd)}</span>
      <Track spans={row.spans} start={start} end={end} />
    </div>
  );
}

interface Zoom {
  from: number;
  to: number;
}

const ALL: Zoom = { from: 0, to: 1 };

interface BrushProps {
  rows: readonly TreeRow[];
  first: number;
  last: number;
  zoom: Zoom;
  setZoom: (zoom: Zoom) => void;
}

/** The whole run in a strip. Dragging over a part of it zooms into that part. */
function Brush({ rows, first, last, zoom, setZoom }: BrushProps): JSX.Element {
  const strip = useRef<HTMLDivElement>(null);
  const [from, setFrom] = useState<number>();
  const partAt = (event: PointerEvent): number => {
    const { left, width } = strip.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const spans = rows.flatMap((row) => row.spans);
  return (
    <div
      class="brush"
      ref={strip}
      onPointerDown={(event) => {
        strip.current?.setPointerCapture(event.pointerId);
        setFrom(partAt(event));
      }}
      onPointerMove={(event) => {
        if (from === undefined) return;
        const to = partAt(event);
        if (Math.abs(to - from) > 0.005) setZoom({ from: Math.min(from, to), to: Math.max(from, to) });
      }}
      onPointerUp={() => setFrom(undefined)}
      onDblClick={() => setZoom(ALL)}
    >
      <Track spans={spans} start={first} end={last} />
      <div class="sel" style={{ left: `${zoom.from * 100}%`, width: `${(zoom.to - zoom.from) * 100}%` }} />
    </div>
  );
}

function endOf(row: TreeRow): number {
  return row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
}

function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const middle = (from + to) / 2;
  const half = Math.min(0.5, Math.max(0.0005, ((to - from) / 2) * factor));
  return panned({ from: middle - half, to: middle + half }, 0);
}

/** Moves by a part of what is shown, and never beyond the run. */
function panned({ from, to }: Zoom, by: number): Zoom {
  const size = to - from;
  const start = Math.min(1 - size, Math.max(0, from + by * size));
  return { from: start, to: start + size };
}

function visibleRows(
  rows: readonly TreeRow[],
  closed: ReadonlySet<string>,
): { row: TreeRow; i: number; hasChildren: boolean }[] {
  const out: { row: TreeRow; i: number; hasChildren: boolean }[] = [];
  let hiddenBelow = Infinity;
  for (const [i, row] of rows.entries()) {
    if (row.depth > hiddenBelow) continue;
    hiddenBelow = closed.has(row.id) ? row.depth : Infinity;
    out.push({ row, i, hasChildren: (rows[i + 1]?.depth ?? 0) > row.depth });
  }
  return out;
}
