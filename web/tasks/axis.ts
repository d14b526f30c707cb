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
