/** Numbers, times and foreign text as a person reads them. */
import { signal } from '@preact/signals';
import { visible } from '../src/domain/consent/visible.ts';
import { HUMAN } from '../src/domain/task/task.ts';
import { whoText } from '../src/views/who.ts';

/** Text of agents, with invisible and misleading characters shown as escapes. */
export { visible };

/** The name of an agent, of the person in front of the page, or of the program. */
export function agentText(name = ''): string {
  return name === HUMAN ? 'you' : visible(whoText(name));
}

/** The server's clock, moved on by one shared tick. Pages never use the browser's own date. */
export const now = signal(Date.now());
let offset = 0;

export function setServerTime(iso: string): void {
  offset = Date.parse(iso) - Date.now();
  tick();
}

let fixed: number | undefined;

/** While the pages show the past, their clock shows that moment. */
export function setFixedTime(at: number | undefined): void {
  fixed = at;
  tick();
}

function tick(): void {
  now.value = fixed ?? Date.now() + offset;
}

setInterval(() => {
  if (document.visibilityState === 'visible') tick();
}, 1000);

/** A cost that is not zero never reads as zero. */
export function money(microUsd: number, unpricedCalls = 0): string {
  if (microUsd === 0 && unpricedCalls > 0) return 'unknown';
  const plus = unpricedCalls > 0 ? ' +' : '';
  if (microUsd > 0 && microUsd < 100) return `<$0.0001${plus}`;
  const dollars = microUsd / 1e6;
  return `$${dollars >= 100 ? dollars.toFixed(0) : dollars >= 1 ? dollars.toFixed(2) : dollars.toFixed(4)}${plus}`;
}

/** A share that is not zero never reads as 0%. */
export function percent(part: number, whole: number): string {
  const rounded = Math.round((part / Math.max(1, whole)) * 100);
  return `${rounded === 0 && part > 0 ? '<1' : rounded}%`;
}

/** Creating a formatter costs more than drawing a row. */
const COUNT = new Intl.NumberFormat('en');
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export function count(value: number): string {
  return COUNT.format(value);
}

/** `8 ms`, `1.4 s`, `14 s`, `1 m 12 s`, `3 h 5 m`, `2 d`. */
export function duration(ms: number): string {
  if (ms <= 0) return '0 s';
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours} h ${Math.floor((seconds % 3600) / 60)} m` : `${Math.floor(hours / 24)} d`;
}

/** For sentences: `5 min ago`, and `on 16 Nov` after a day. */
export function when(iso: string): string {
  return now.value - Date.parse(iso) < 86_400_000 ? `${ago(iso)} ago` : `on ${ago(iso)}`;
}

/** How long ago, in one unit; the date if it was more than a day ago. */
export function ago(iso: string): string {
  const seconds = Math.max(0, Math.round((now.value - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return DAY.format(new Date(iso));
}

export function clock(iso: string): string {
  return CLOCK.format(new Date(iso));
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A value with its name, for a choice of values. */
export function capitalized<T extends string>(value: T): [name: string, value: T] {
  return [value[0]!.toUpperCase() + value.slice(1), value];
}
