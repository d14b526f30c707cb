/** Places of times on the screen, from 0 to 1. Long stretches in which nobody worked are folded. */
import type { TreeRow } from '../../src/web/base/contract.ts';
import { stretchesOf, unfoldedMs, type Stretch } from '../../src/views/time-folds.ts';

export interface Axis {
  /** From 0 to 1. */
  placeOf(time: number): number;
  timeAt(place: number): number;
  folds: { from: number; to: number; ms: number }[];
  first: number;
  last: number;
}

/** How much of the screen a fold takes. */
const FOLD_SHARE = 0.03;

export function axisOf(rows: readonly TreeRow[], now: number): Axis {
  const endOf = (end: string | undefined): number => (end === undefined ? now : Date.parse(end));
  let first = Infinity;
  let last = -Infinity;
  const busy: { from: number; to: number }[] = [];
  for (const { createdAt, endedAt, spans } of rows) {
    first = Math.min(first, Date.parse(createdAt));
    last = Math.max(last, endOf(endedAt));
    for (const { kind, start, end } of spans)
      if (kind !== 'wait' && kind !== 'you') busy.push({ from: Date.parse(start), to: endOf(end) });
  }
  if (first === Infinity) first = last = now;
  last = Math.max(last, first + 1);
  return axisThrough(stretchesOf(busy, first, last), first, last);
}

interface Part extends Stretch {
  start: number;
  size: number;
}

function axisThrough(stretches: readonly Stretch[], first: number, last: number): Axis {
  const open = unfoldedMs(stretches);
  const folded = stretches.filter(({ isFolded }) => isFolded).length;
  // A run without any work has nothing to make room for.
  const isPlain = folded === 0 || open === 0;
  const share = Math.min(FOLD_SHARE, 0.5 / Math.max(1, folded));
  const parts: Part[] = [];
  let start = 0;
  for (const stretch of isPlain ? [{ from: first, to: last, isFolded: false }] : stretches) {
    const ms = stretch.to - stretch.from;
    const size = isPlain ? 1 : stretch.isFolded ? share : (ms / open) * (1 - folded * share);
    parts.push({ ...stretch, start, size });
    start += size;
  }
  return {
    first,
    last,
    placeOf(time) {
      const part = parts.find(({ to }) => time <= to) ?? parts.at(-1)!;
      return Math.min(1, Math.max(0, part.start + ((time - part.from) / (part.to - part.from)) * part.size));
    },
    timeAt(place) {
      const part = parts.find((each) => place <= each.start + each.size) ?? parts.at(-1)!;
      return part.from + ((place - part.start) / part.size) * (part.to - part.from);
    },
    folds: parts
      .filter(({ isFolded }) => isFolded)
      .map(({ start: from, size, from: begin, to }) => ({ from, to: from + size, ms: to - begin })),
  };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 6, 12, 24, 48, 168].map((hours) => hours * HOUR),
];
const TICKS_MAX = 6;

interface Tick {
  /** The position in the visible part, from 0 to 1. */
  at: number;
  text: string;
}

/** Round times since the start of the run. Folded stretches have none. */
export function ticksOf(axis: Axis, shown: { from: number; to: number }): Tick[] {
  const open = openParts(axis, shown).map(({ from, to }) => ({ from: axis.timeAt(from), to: axis.timeAt(to) }));
  const shownMs = open.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = STEPS.find((each) => shownMs / each <= TICKS_MAX) ?? STEPS.at(-1)!;
  const times = open.flatMap(({ from, to }) => {
    const first = Math.ceil((from - axis.first) / step) * step;
    const count = Math.max(0, Math.floor((to - axis.first - first) / step) + 1);
    return Array.from({ length: Math.min(count, TICKS_MAX + 1) }, (_, i) => first + i * step);
  });
  const ticks: Tick[] = [];
  for (const ms of times) {
    const at = (axis.placeOf(axis.first + ms) - shown.from) / (shown.to - shown.from);
    // Labels beside a fold would overlap, and a label at the end would be cut off.
    if (at < 0.96 && at - (ticks.at(-1)?.at ?? -1) > 0.08) ticks.push({ at, text: tickText(ms, step) });
  }
  return ticks;
}

function openParts(axis: Axis, { from, to }: { from: number; to: number }): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let start = from;
  for (const fold of axis.folds) {
    if (fold.to <= start || fold.from >= to) continue;
    if (fold.from > start) parts.push({ from: start, to: fold.from });
    start = fold.to;
  }
  return start < to ? [...parts, { from: start, to }] : parts;
}

function tickText(ms: number, step: number): string {
  if (ms === 0) return '0 s';
  const fraction = (rest: number): string => `${(rest / SECOND).toFixed(step >= 100 ? 1 : step >= 10 ? 2 : 3)} s`;
  if (step < SECOND) return ms < MINUTE ? fraction(ms) : `${Math.floor(ms / MINUTE)} m ${fraction(ms % MINUTE)}`;
  const [seconds, minutes, hours] = [Math.floor(ms / SECOND), Math.floor(ms / MINUTE), Math.floor(ms / HOUR)];
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return seconds % 60 === 0 ? `${minutes} m` : `${minutes} m ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
}
