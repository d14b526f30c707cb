/**
 * The moment that all pages show: now, or one of the past. A run that is replayed gives the range
 * of the slider; leaving its page keeps the moment until the person goes back to now.
 */
import { computed, signal } from '@preact/signals';
import { setFixedTime } from './text.ts';

export interface Range {
  title: string;
  /** The page that shows the whole run. */
  href: string;
  from: number;
  to: number;
  /** Moments worth a look, in order; a step goes to the next one. */
  stops: number[];
}

export const range = signal<Range | undefined>(undefined);
/** Undefined: now. */
export const moment = signal<number | undefined>(undefined);
export const isPlaying = signal(false);

export const momentIso = computed(() =>
  moment.value === undefined ? undefined : new Date(moment.value).toISOString(),
);

export function showMoment(at: number, of?: Range): void {
  if (of !== undefined) range.value = of;
  moment.value = Math.round(at);
  setFixedTime(moment.value);
}

export function showNow(): void {
  isPlaying.value = false;
  moment.value = undefined;
  setFixedTime(undefined);
}

/** The next or the previous stop of the range. */
export function step(by: 1 | -1): void {
  const { value } = range;
  if (value === undefined) return;
  isPlaying.value = false;
  const here = moment.value ?? value.to;
  const stops = by === 1 ? value.stops : value.stops.toReversed();
  const next = stops.find((stop) => (by === 1 ? stop > here : stop < here));
  showMoment(next ?? (by === 1 ? value.to : value.from));
}

/** A whole run is played in about this time. */
const PLAY_MS = 12_000;
/** Each step reads the page again, so there are few of them. */
const STEP_MS = 250;
let timer: ReturnType<typeof setInterval> | undefined;

export function togglePlay(): void {
  clearInterval(timer);
  isPlaying.value = !isPlaying.value;
  const { value } = range;
  if (!isPlaying.value || value === undefined) return;
  if ((moment.value ?? value.to) >= value.to) showMoment(value.from);
  timer = setInterval(() => {
    if (!isPlaying.value || moment.value === undefined || range.value === undefined) return clearInterval(timer);
    const { from, to } = range.value;
    const next = moment.value + ((to - from) * STEP_MS) / PLAY_MS;
    showMoment(Math.min(to, next));
    if (next >= to) isPlaying.value = false;
    return undefined;
  }, STEP_MS);
}
