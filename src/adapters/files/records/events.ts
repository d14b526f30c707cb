/**
 * The event log: `events/<day>.jsonl`. Events of a process that works are in its journal at once,
 * and in the log when the files of their step are. Each line has the peer and a number, so that a
 * replay adds none twice.
 */
import path from 'node:path';
import type { Event } from '../../../domain/event.js';
import type { Disk } from '../../../ports/disk.js';
import type { Events } from '../../../ports/store/events.js';
import { appendOrCreate } from '../base/append-or-create.js';
import type { Lag } from '../base/lag.js';
import type { Layout } from '../base/layout.js';
import type { Journal } from '../journal/journal.js';
import { eventsKey } from '../journal/step.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  journal: Journal;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
  lag: Lag;
}

export interface EventLog extends Events {
  /** Writes the lines that wait. */
  place(): void;
}

export function events({ disk, layout, journal, isJoined, lag }: Dependencies): EventLog {
  /** Lines by day. */
  const waiting = new Map<string, string>();
  let count = 0;
  let isDue = false;

  return {
    append(event) {
      const day = event.at.slice(0, 10);
      const text = `${JSON.stringify({ ...event, seq: ++count })}\n`;
      waiting.set(day, (waiting.get(day) ?? '') + text);
      if (!isJoined()) return place();
      journal.add({ day, text });
      if (isDue) return;
      isDue = true;
      lag(placeLater);
    },
    async list({ task, limit = Infinity } = {}) {
      place();
      return readEvents(disk, layout, task, limit);
    },
    place,
  };

  function placeLater(): void {
    isDue = false;
    try {
      place();
    } catch {
      // The journal has the lines. Whoever asks for them next tries again and sees the error.
    }
  }

  function place(): void {
    if (waiting.size === 0) return;
    if (isJoined()) journal.write();
    for (const [day, text] of waiting) {
      const file = path.join(layout.events, `${day}.jsonl`);
      appendOrCreate(disk, file, text);
      waiting.delete(day);
      if (isJoined()) journal.placed(eventsKey(day), file);
    }
  }
}

/** The newest `limit` events, oldest first. */
function readEvents(disk: Disk, layout: Layout, task: string | undefined, limit: number): Event[] {
  const newestFirst: Event[] = [];
  const days = disk
    .list(layout.events)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .reverse();
  for (const day of days) {
    const read = disk.read(path.join(layout.events, day));
    if (read.kind !== 'file') continue;
    const lines = read.bytes.toString('utf8').split('\n');
    lines.pop(); // a last line without a newline is incomplete
    for (const line of lines.reverse()) {
      if (newestFirst.length >= limit) return newestFirst.reverse();
      const event = parseLine(line);
      if (event && (task === undefined || event.task === task)) newestFirst.push(event);
    }
  }
  return newestFirst.reverse();
}

/** A power cut may tear a line; its neighbours are still read. */
function parseLine(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined;
  }
}
