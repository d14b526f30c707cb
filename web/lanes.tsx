/** Bars of what happened when. Hatched means that nobody works. */
import type { JSX } from 'preact';
import type { Lane, Span, SpanKind } from '../src/web/base/contract.ts';
import { clock, duration, now, visible } from './text.ts';

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
  const times = [0, 0.25, 0.5, 0.75].map((part) => new Date(start + part * (end - start)).toISOString());
  return (
    <div class="lanes">
      {lanes.map(({ agent, spans }) => (
        <div key={agent} class="lane">
          <span class="l">{visible(agent)}</span>
          <Track spans={spans} start={start} end={end} />
        </div>
      ))}
      {lanes.length === 0 && <p class="dim b">Nothing happened in the last hour.</p>}
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
  from: number;
  to: number;
  label: string;
  isBad: boolean;
}

/** The spans of one row, in per cent of the time shown. */
export function Track({ spans, start, end }: { spans: readonly Span[]; start: number; end: number }): JSX.Element {
  const at = (time: number): number => Math.min(100, Math.max(0, ((time - start) / Math.max(1, end - start)) * 100));
  return (
    <div class="track" role="img" aria-label={`${spans.length} spans`}>
      {barsOf(spans, start, end).map((bar, i) => (
        <i
          key={i}
          class={`k-${bar.kind}${bar.isBad ? ' bad' : ''}`}
          style={{ left: `${at(bar.from)}%`, width: `${at(bar.to) - at(bar.from)}%` }}
          title={bar.label}
        />
      ))}
    </div>
  );
}

/** Bars that are nearer than a pixel are drawn as one, so that thousands of spans stay cheap. */
const PIXELS = 1200;

function barsOf(spans: readonly Span[], start: number, end: number): Bar[] {
  const pixelMs = (end - start) / PIXELS;
  const bars: Bar[] = [];
  const last = new Map<SpanKind, Bar & { count: number }>();
  for (const { kind, start: from, end: until, label, ok } of spans) {
    const [first, to] = [Date.parse(from), until === undefined ? now.value : Date.parse(until)];
    if (to < start || first > end) continue;
    const before = last.get(kind);
    if (before !== undefined && first - before.to < pixelMs && to - first < pixelMs) {
      before.to = Math.max(before.to, to);
      before.label = `${++before.count} of this kind`;
      before.isBad ||= ok === false;
      continue;
    }
    const text = `${visible(label)}, ${duration(to - first)}`;
    const bar = { kind, from: first, to: Math.max(first, to), label: text, isBad: ok === false, count: 1 };
    bars.push(bar);
    last.set(kind, bar);
  }
  return bars;
}
