/** The whole run in a strip. Dragging over a part of it zooms into that part. */
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Span, TreeRow } from '../../src/web/base/contract.ts';
import { Track } from '../lanes.tsx';
import type { Axis } from './axis.ts';

/** A part of the axis. */
export interface Zoom {
  from: number;
  to: number;
}

export const ALL: Zoom = { from: 0, to: 1 };

interface BrushProps {
  rows: readonly TreeRow[];
  axis: Axis;
  zoom: Zoom;
  setZoom: (zoom: Zoom) => void;
}

export function Brush({ rows, axis, zoom, setZoom }: BrushProps): JSX.Element {
  const strip = useRef<HTMLDivElement>(null);
  const [from, setFrom] = useState<number>();
  const lanes = useMemo(() => lanesOf(rows), [rows]);
  const partAt = (event: PointerEvent): number => {
    const { left, width } = strip.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
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
      {lanes.map((spans, i) => (
        <Track key={i} spans={spans} axis={axis} zoom={ALL} />
      ))}
      <div class="sel" style={{ left: `${zoom.from * 100}%`, width: `${(zoom.to - zoom.from) * 100}%` }} />
    </div>
  );
}

const LANES_MAX = 5;

/** Work by its depth in the tree. Waiting is left out: the strip shows where the work was. */
function lanesOf(rows: readonly TreeRow[]): Span[][] {
  const lanes = new Map<number, Span[]>();
  for (const { depth, spans, isGroup } of rows) {
    const work = isGroup === true ? [] : spans.filter(({ kind }) => kind !== 'wait' && kind !== 'you');
    if (work.length > 0) lanes.set(depth, [...(lanes.get(depth) ?? []), ...work]);
  }
  const byDepth = [...lanes].sort(([a], [b]) => a - b).map(([, spans]) => spans);
  return [
    ...byDepth.slice(0, LANES_MAX - 1),
    ...(byDepth.length < LANES_MAX ? [] : [byDepth.slice(LANES_MAX - 1).flat()]),
  ];
}

export function zoomed({ from, to }: Zoom, factor: number): Zoom {
  const middle = (from + to) / 2;
  const half = Math.min(0.5, Math.max(0.0005, ((to - from) / 2) * factor));
  return panned({ from: middle - half, to: middle + half }, 0);
}

/** Moves by a part of the visible range, and never beyond the run. */
export function panned({ from, to }: Zoom, by: number): Zoom {
  const size = to - from;
  const start = Math.min(1 - size, Math.max(0, from + by * size));
  return { from: start, to: start + size };
}
