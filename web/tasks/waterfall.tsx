/**
 * The tree of a run and its time in one row. `[` and `]` fold and unfold a level, `+`, `-` and `0`
 * zoom, the arrows pan, and the strip above shows the whole run. Only rows on the screen are drawn.
 */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Span, TaskSpans, TreeRow } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { useKeys } from '../keys.ts';
import { Track } from '../lanes.tsx';
import { address, go } from '../router.ts';
import { duration, money, now } from '../text.ts';
import { VirtualRows } from './virtual-rows.tsx';
import { axisOf, ticksOf, type Axis } from './axis.ts';
import { ALL, Brush, panned, zoomed, type Zoom } from './brush.tsx';
import { isClosed, TreeCell, useTreeRows, type ChosenRows, type Fold, type ShownRow } from './tree-rows.tsx';

interface WaterfallProps extends ChosenRows {
  /** The run whose finer spans can be read, if some are drawn as one. */
  mergedOf?: string | undefined;
}

export function Waterfall({ rows, chosen, choose, mergedOf }: WaterfallProps): JSX.Element {
  const { shown, folds, toggle, keys } = useTreeRows({ rows, chosen, choose });
  const [zoom, setZoom] = useState(ALL);
  const isOpen = rows.some(({ endedAt }) => endedAt === undefined);
  const clock = isOpen ? now.value : 0;
  const axis = useMemo(() => axisOf(rows, clock), [rows, clock]);
  useKeys({
    ...keys,
    '+': () => setZoom(zoomed(zoom, 0.5)),
    '-': () => setZoom(zoomed(zoom, 2)),
    '0': () => setZoom(ALL),
    ArrowLeft: () => setZoom(panned(zoom, -0.2)),
    ArrowRight: () => setZoom(panned(zoom, 0.2)),
    Enter: () => {
      const { session, id, isGroup } = rows[chosen] ?? {};
      if (isGroup === true) toggle(id!);
      else if (session !== undefined) go(address('conversation', session));
      else if (id !== undefined) go(address('task', id));
    },
  });
  const fine = useFineSpans(zoom === ALL ? undefined : mergedOf, axis, zoom);
  return (
    <div class="wf">
      <Grid axis={axis} zoom={zoom} />
      <div class="wfr wfb">
        <span class="dim hint">
          Drag to zoom, or <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd>
          {axis.folds.length > 0 && '. Gaps over 1 min are folded.'}
        </span>
        <Brush rows={rows} axis={axis} zoom={zoom} setZoom={setZoom} />
      </div>
      <div class="wfr wfh">
        <span class="t">Task</span>
        <span class="num">Time</span>
        <span class="num">Cost</span>
        <Ticks axis={axis} zoom={zoom} />
      </div>
      <Rows
        shown={shown}
        folds={folds}
        toggle={toggle}
        chosen={chosen}
        choose={choose}
        axis={axis}
        zoom={zoom}
        fine={fine}
      />
    </div>
  );
}

const REST_MS = 120;

/**
 * The spans of the visible part, in the detail that fits the screen. While the part moves, the last
 * spans stay; the server is asked when the part rests. `id`: absent if every span is loaded
 * already.
 */
function useFineSpans(id: string | undefined, axis: Axis, zoom: Zoom): TaskSpans | undefined {
  const from = Math.floor(axis.timeAt(zoom.from));
  const to = Math.ceil(axis.timeAt(zoom.to));
  const [route, setRoute] = useState<string>();
  const wanted = id === undefined ? undefined : `/api/tasks/${encodeURIComponent(id)}/spans?from=${from}&to=${to}`;
  useEffect(() => {
    const timer = setTimeout(() => setRoute(wanted), wanted === undefined ? 0 : REST_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const { data } = useRead<TaskSpans>(route);
  const last = useRef<TaskSpans>(undefined);
  if (data.value !== undefined) last.current = data.value;
  return id === undefined ? undefined : last.current;
}

function Ticks({ axis, zoom }: { axis: Axis; zoom: Zoom }): JSX.Element {
  const size = zoom.to - zoom.from;
  return (
    <span class="ticks">
      {ticksOf(axis, zoom).map(({ at, text }) => (
        <span key={text} style={{ left: `${at * 100}%` }}>
          {text}
        </span>
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

/** Lines through all rows at the times above them. */
function Grid({ axis, zoom }: { axis: Axis; zoom: Zoom }): JSX.Element {
  return (
    <div class="wfr wfgrid" aria-hidden="true">
      <div class="track">
        {ticksOf(axis, zoom).map(({ at, text }) => (
          <b key={text} style={{ left: `${at * 100}%` }} />
        ))}
      </div>
    </div>
  );
}

interface RowsProps {
  shown: readonly ShownRow[];
  folds: ReadonlySet<string>;
  toggle: (id: string) => void;
  chosen: number;
  choose: (at: number) => void;
  axis: Axis;
  zoom: Zoom;
  fine: TaskSpans | undefined;
}

function Rows({ shown, folds, toggle, chosen, choose, axis, zoom, fine }: RowsProps): JSX.Element {
  return (
    <VirtualRows
      rows={shown}
      chosen={shown.findIndex(({ i }) => i === chosen)}
      draw={({ row, i, hasChildren }) => (
        <WaterfallRow
          key={row.id}
          row={row}
          spans={fine?.spans[row.id] ?? row.spans}
          isChosen={i === chosen}
          choose={() => choose(i)}
          fold={hasChildren ? { isClosed: isClosed(row, folds), toggle: () => toggle(row.id) } : undefined}
          axis={axis}
          zoom={zoom}
        />
      )}
    />
  );
}

interface RowProps {
  row: TreeRow;
  spans: readonly Span[];
  isChosen: boolean;
  choose: () => void;
  fold: Fold | undefined;
  axis: Axis;
  zoom: Zoom;
}

function WaterfallRow({ row, spans, isChosen, choose, fold, axis, zoom }: RowProps): JSX.Element {
  return (
    <div class={isChosen ? 'wfr sel' : 'wfr'} onClick={choose}>
      <TreeCell row={row} fold={fold} />
      <span class="num">{duration(endOf(row) - Date.parse(row.createdAt))}</span>
      <span class="num">{row.microUsd === 0 ? '' : money(row.microUsd)}</span>
      <Track spans={spans} axis={axis} zoom={zoom} caption={row.caption} />
    </div>
  );
}

function endOf(row: TreeRow): number {
  return row.endedAt === undefined ? now.value : Date.parse(row.endedAt);
}
