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

/** The spans of one row, in per cent of the time shown. */
export function Track({ spans, start, end }: { spans: readonly Span[]; start: number; end: number }): JSX.Element {
  const at = (time: number): number => Math.min(100, Math.max(0, ((time - start) / Math.max(1, end - start)) * 100));
  return (
    <svg class="track" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={`${spans.length} spans`}>
      {spans.map((span, i) => {
        const from = Date.parse(span.start);
        const to = span.end === undefined ? Math.max(now.value, from) : Date.parse(span.end);
        if (to < start || from > end) return null;
        const thin = span.kind === 'wait' || span.kind === 'you';
        return (
          <rect
            key={i}
            class={`k-${span.kind}${span.ok === false ? ' bad' : ''}`}
            x={at(from)}
            y={thin ? 3 : 1}
            width={Math.max(0.25, at(to) - at(from))}
            height={thin ? 6 : 10}
          >
            <title>{`${visible(span.label)}, ${duration(to - from)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
