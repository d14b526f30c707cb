/** Bars of what happened when. Hatched means that nobody works. */
import type { JSX } from 'preact';
import type { Lane, Span, SpanKind } from '../src/web/base/contract.ts';
import type { Axis } from './tasks/axis.ts';
import { agentText, clock, duration, now, visible } from './text.ts';

const ALL = { from: 0, to: 1 };

const KINDS: [SpanKind, string][] = [
  ['model', 'Model'],
  ['tool', 'Tool'],
  ['check', 'Check'],
  ['bid', 'Bid'],
  ['wait', 'Waiting for a task'],
  ['you', 'Waiting for you'],
];

export function Legend(): JSX.Element {
  return (
    <span class="legend">
      {KINDS.map(([kind, name]) => (
        <span key={kind}>
          <i class={`k-${kind}`} />
          {name}
        </span>
      ))}
    </span>
  );
}

export function Lanes({ lanes, from }: { lanes: Lane[]; from: string }): JSX.Element {
  const start = Date.parse(from);
  const end = now.value;
  const axis = plainAxis(start, end);
  const minutes = Math.round((end - start) / 60_000);
  // The times are whole minutes apart.
  const parts = minutes % 4 === 0 ? 4 : 5;
  const times = Array.from({ length: parts }, (_, i) => new Date(axis.timeAt(i / parts)).toISOString());
  return (
    <div class="lanes">
      {lanes.map(({ agent, spans }) => (
        <div key={agent} class="lane">
          <span class="l one">{agentText(agent)}</span>
          <Track spans={spans} axis={axis} zoom={ALL} />
        </div>
      ))}
      {lanes.length === 0 && <p class="dim b">Nothing happened in this time.</p>}
      <div class="axis" aria-hidden="true">
        <span />
        <div>
          {times.map((time) => (
            <span key={time}>{clock(time).slice(0, 5)}</span>
          ))}
          <span>now</span>
        </div>
      </div>
    </div>
  );
}

interface Bar {
  kind: SpanKind;
  /** Positions in the visible part, from 0 to 1. */
  from: number;
  to: number;
  label: string;
  isBad: boolean;
}

interface TrackProps {
  spans: readonly Span[];
  axis: Pick<Axis, 'placeOf'>;
  zoom: { from: number; to: number };
  /** A few words beside the bars. */
  caption?: string | undefined;
}

/** The spans of one row. */
export function Track({ spans, axis, zoom, caption }: TrackProps): JSX.Element {
  const bars = barsOf(spans, axis, zoom);
  const name = `${spans.length} spans${caption === undefined ? '' : `: ${visible(caption)}`}`;
  return (
    <div class="track" role="img" aria-label={name}>
      {bars.map((bar, i) => (
        <i
          key={i}
          class={`k-${bar.kind}${bar.isBad ? ' bad' : ''}`}
          style={{ left: `${bar.from * 100}%`, width: `${(bar.to - bar.from) * 100}%` }}
          title={bar.label}
        />
      ))}
      {caption !== undefined && bars.length > 0 && <Caption bars={bars} text={caption} />}
    </div>
  );
}

/** To the right of the bars, or to their left if the row has no room on the right. */
function Caption({ bars, text }: { bars: readonly Bar[]; text: string }): JSX.Element {
  const from = Math.min(...bars.map((bar) => bar.from));
  const to = Math.max(...bars.map((bar) => bar.to));
  const isBehind = to < 0.8 || from < 0.2;
  const at = isBehind ? { left: `${to * 100}%` } : { right: `${(1 - from) * 100}%` };
  return (
    <span class="cap" style={at}>
      {visible(text)}
    </span>
  );
}

/** Bars that are nearer than a pixel are drawn as one, so that thousands of spans stay cheap. */
const PIXEL = 1 / 1200;

function barsOf(spans: readonly Span[], axis: TrackProps['axis'], zoom: TrackProps['zoom']): Bar[] {
  const size = zoom.to - zoom.from;
  const place = (time: number): number => (axis.placeOf(time) - zoom.from) / size;
  const bars: Bar[] = [];
  const last = new Map<SpanKind, Bar & { count: number }>();
  for (const { kind, start, end, label, ok, n = 1 } of spans) {
    const [first, until] = [Date.parse(start), end === undefined ? now.value : Date.parse(end)];
    const [from, to] = [place(first), place(until)];
    if (to < 0 || from > 1) continue;
    const before = last.get(kind);
    if (before !== undefined && from - before.to < PIXEL && to - from < PIXEL) {
      before.to = Math.max(before.to, Math.min(1, to));
      before.count += n;
      before.label = `${before.count} of this kind`;
      before.isBad ||= ok === false;
      continue;
    }
    const text = n > 1 ? `${n} of this kind` : `${visible(label)}, ${duration(until - first)}`;
    const bar = { kind, from: Math.max(0, from), to: Math.min(1, to), label: text, isBad: ok === false, count: n };
    bars.push(bar);
    last.set(kind, bar);
  }
  return bars;
}

function plainAxis(start: number, end: number): Pick<Axis, 'placeOf' | 'timeAt'> {
  const ms = Math.max(1, end - start);
  return {
    placeOf: (time) => Math.min(1, Math.max(0, (time - start) / ms)),
    timeAt: (place) => start + place * ms,
  };
}
