/** Icons, drawn in one weight on a 16 × 16 grid. A state is always an icon and a word. */
import type { JSX } from 'preact';

export function Icon({ name, small = false }: { name: IconName; small?: boolean }): JSX.Element {
  return (
    <svg class={small ? 'i s' : 'i'} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}

export type IconName = keyof typeof SHAPES;

const SHAPES = {
  pending: <circle cx="8" cy="8" r="5.5" stroke-dasharray="2.2 2.1" />,
  run: (
    <>
      <circle cx="8" cy="8" r="5.5" opacity=".3" />
      <path d="M8 2.5a5.5 5.5 0 0 1 5.5 5.5" />
    </>
  ),
  wait: <path d="M4.5 2.5h7M4.5 13.5h7M5.5 2.5v2.6L8 8l2.5-2.9V2.5M5.5 13.5v-2.6L8 8l2.5 2.9v2.6" />,
  you: (
    <>
      <circle cx="8" cy="5.2" r="2.6" />
      <path d="M3 13.5c.4-2.8 2.4-4.2 5-4.2s4.6 1.4 5 4.2" />
    </>
  ),
  done: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M5.6 8.2 7.3 9.9 10.6 6.3" />
    </>
  ),
  fail: <path d="M5.6 2.5h4.8l3.1 3.1v4.8l-3.1 3.1H5.6l-3.1-3.1V5.6zM6.2 6.2l3.6 3.6M9.8 6.2 6.2 9.8" />,
  cancel: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M4.2 11.8 11.8 4.2" />
    </>
  ),
  pause: <path d="M5.5 4v8M10.5 4v8" stroke-width="2" />,
  idle: <path d="M4 8h8" />,
  free: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <circle cx="8" cy="8" r="1.8" fill="currentColor" stroke="none" />
    </>
  ),
  block: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M5.2 8h5.6" />
    </>
  ),
  warn: <path d="M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1" />,
  hall: <path d="M2 6.5 8 2.5l6 4M3.5 13.5h9M4.5 7v6M8 7v6M11.5 7v6" />,
  inbox: <path d="M2.5 9.5 4.5 3h7l2 6.5v3.5h-11zM2.5 9.5h3l1 1.8h3l1-1.8h3" />,
  tasks: <path d="M2.5 4.2 3.7 5.4 5.7 3M2.5 10.7l1.2 1.2 2-2.4M8 4.5h5.5M8 11h5.5" />,
  chat: <path d="M2.5 3.5h11v7.5h-6l-3 2.5v-2.5h-2z" />,
  agents: (
    <>
      <circle cx="5.8" cy="5.5" r="2.3" />
      <path d="M1.8 13c.3-2.5 1.9-3.8 4-3.8s3.7 1.3 4 3.8" />
      <path d="M10.3 3.4a2.2 2.2 0 0 1 0 4.2M11.6 9.5c1.5.4 2.4 1.6 2.6 3.5" />
    </>
  ),
  boards: (
    <>
      <rect x="2.5" y="3" width="11" height="10" rx="1.5" />
      <path d="M6.2 3v10M9.8 3v10" />
    </>
  ),
  notes: <path d="M3.5 2.5h9v8l-3 3h-6zM9.5 13.5v-3h3M5.8 5.5h4.4M5.8 8h3" />,
  costs: <path d="M2.5 13.5h11M4 13.5V9M8 13.5V4M12 13.5V7" />,
  history: <path d="M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.8v3h3M8 5.5V8l1.8 1.2" />,
  replay: <path d="M5 3.5v9l7-4.5z" />,
  waits: (
    <>
      <circle cx="4" cy="4" r="1.8" />
      <circle cx="12" cy="6" r="1.8" />
      <circle cx="6" cy="12.2" r="1.8" />
      <path d="m5.8 4.5 4.4 1M11 7.5l-3.6 3.6M5.5 10.4 4.4 5.8" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  term: <path d="m3 4.5 3.5 3.5L3 11.5M8 12h5" />,
  file: <path d="M4 2.5h5l3 3v8H4zM9 2.5v3h3" />,
  model: <path d="M8 2.5 9.5 6.5 13.5 8 9.5 9.5 8 13.5 6.5 9.5 2.5 8 6.5 6.5z" />,
  shield: <path d="M8 2.2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z" />,
  drop: <path d="M8 2.2c2.5 3 4 5 4 7a4 4 0 0 1-8 0c0-2 1.5-4 4-7z" />,
  edit: <path d="m3 13 .6-2.8 7-7 2.2 2.2-7 7zM9.5 4.3l2.2 2.2" />,
  fork: (
    <>
      <circle cx="4.5" cy="3.8" r="1.5" />
      <circle cx="11.5" cy="3.8" r="1.5" />
      <circle cx="8" cy="12.2" r="1.5" />
      <path d="M4.5 5.3c0 3 3.5 2.5 3.5 5.4M11.5 5.3c0 3-3.5 2.5-3.5 5.4" />
    </>
  ),
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  right: <path d="m6.5 4.5 3.5 3.5-3.5 3.5" />,
  moon: <path d="M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z" />,
  q: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M6.3 6.4c.2-1 .9-1.5 1.8-1.5 1 0 1.7.6 1.7 1.5 0 1.2-1.8 1.3-1.8 2.5M8 10.9v.1" />
    </>
  ),
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  more: <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" stroke-width="2.2" />,
  robot: (
    <>
      <rect x="3" y="5.5" width="10" height="7.5" rx="2" />
      <path d="M8 5.5v-2M6 8.8v.6M10 8.8v.6M1.5 8.5v2M14.5 8.5v2" />
    </>
  ),
  link: (
    <path d="M6.8 9.2a2.5 2.5 0 0 0 3.5 0l2-2a2.5 2.5 0 0 0-3.5-3.5l-.8.8M9.2 6.8a2.5 2.5 0 0 0-3.5 0l-2 2a2.5 2.5 0 0 0 3.5 3.5l.8-.8" />
  ),
  cut: (
    <>
      <circle cx="4" cy="4.5" r="1.8" />
      <circle cx="4" cy="11.5" r="1.8" />
      <path d="m5.6 5.5 7.4 6M5.6 10.5l7.4-6" />
    </>
  ),
  off: (
    <path d="M2.5 2.5l11 11M4.7 8.3a5 5 0 0 1 2.3-1.2M2.5 6a8.5 8.5 0 0 1 2.5-1.6M8 4c2 0 3.9.7 5.5 2M10.3 7.7c.4.2.7.4 1 .7M8 12v.1" />
  ),
};
