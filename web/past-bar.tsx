/** Shows which moment of the past the pages display, and moves through time. */
import type { JSX } from 'preact';
import { Icon } from './icons.tsx';
import { useKeys } from './keys.ts';
import { isPlaying, moment, range, showMoment, showNow, step, togglePlay } from './moment.ts';
import { clock, duration, visible } from './text.ts';

/** Shown above every page except the page of the run, which has the slider itself. */
export function PastBar(): JSX.Element | null {
  if (moment.value === undefined || range.value === undefined) return null;
  return (
    <section class="pastbar s-check" aria-label="The past">
      <Icon name="history" />
      <b>As it was at {clock(new Date(moment.value).toISOString())}</b>
      <a class="link one" href={range.value.href}>
        {visible(range.value.title)}
      </a>
      <TimeSlider />
      <button type="button" class="btn sm" onClick={showNow}>
        Back to now
      </button>
    </section>
  );
}

export function TimeSlider(): JSX.Element | null {
  const { value } = range;
  useKeys({ ' ': togglePlay, ',': () => step(-1), '.': () => step(1) });
  if (value === undefined) return null;
  const { from, to } = value;
  const at = moment.value ?? to;
  return (
    <span class="when">
      <button type="button" class="btn sm" aria-label="Earlier" title="Earlier" onClick={() => step(-1)}>
        <span aria-hidden="true">‹</span> <kbd>,</kbd>
      </button>
      <button type="button" class="btn sm" aria-pressed={isPlaying.value} onClick={togglePlay}>
        <Icon name={isPlaying.value ? 'pause' : 'replay'} small /> {isPlaying.value ? 'Pause' : 'Play'} <kbd>Space</kbd>
      </button>
      <button type="button" class="btn sm" aria-label="Later" title="Later" onClick={() => step(1)}>
        <span aria-hidden="true">›</span> <kbd>.</kbd>
      </button>
      <input
        type="range"
        min={0}
        max={Math.max(1, to - from)}
        step={Math.max(1, (to - from) / 1000)}
        aria-label="Moment"
        aria-valuetext={`${duration(at - from)} after the start`}
        value={at - from}
        onInput={(event) => showMoment(from + Number(event.currentTarget.value))}
      />
      <span class="dim wideonly">{duration(at - from)} after the start</span>
    </span>
  );
}
