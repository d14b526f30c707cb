/**
 * The event log: `events/<day>.jsonl`. Events of a process that works are in its journal too, in
 * the line of their step. Peer, time and the number among the events of one instant identify a
 * line, so that a replay adds none twice.
 */
import path from 'node:path';
import type { Event } from '../../../domain/event.js';
import type { Disk } from '../../../ports/disk.js';
import type { Events } from '../../../ports/store/events.js';
import { appendOrCreate } from '../base/append-or-create.js';
import type { Layout } from '../base/layout.js';
import type { Journal } from '../journal/journal.js';
import { eventsKey } from '../journal/step.js';
import type { Placer } from '../place/placer.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  journal: Journal;
  placer: Placer;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
  /** Places each line in its file at once, without the delay of the placer. */
  isAtOnce: boolean;
  /** A name for a temporary file that only this process uses. */
  tmp: string;
}

export function events({ disk, layout, journal, placer, isJoined, isAtOnce, tmp }: Dependencies): Events {
  /** Lines by day. */
  const waiting = new Map<string, string>();
  /** The time of the last event, and the number of events with that time. */
  let instant = { at: '', count: 0 };

  return {
    append(event) {
      const day = event.at.slice(0, 10);
      instant = { at: event.at, count: event.at === instant.at ? instant.count + 1 : 1 };
      const seq = instant.count > 1 ? { seq: instant.count } : {};
      const text = `${JSON.stringify({ ...event, ...seq })}\n`;
      waiting.set(day, (waiting.get(day) ?? '') + text);
      if (isJoined()) journal.add({ day, text });
      if (isAtOnce || !isJoined()) place(day);
      else follow(day);
    },
    async list({ task, limit = Infinity } = {}) {
      for (const day of waiting.keys()) place(day);
      return readEvents(disk, layout, task, limit);
    },
  };

  /** They need not be durable first: nobody acts on a line of the log. */
  function follow(day: string): void {
    const key = eventsKey(day);
    if (placer.get(key) !== undefined) return;
    placer.put({ key, line: 0, to: fileOf(day), perform: () => place(day), done: () => undefined });
  }

  function place(day: string): void {
    const text = waiting.get(day);
    if (text === undefined) return;
    appendOrCreate(disk, fileOf(day), text, tmp);
    waiting.delete(day);
    if (isJoined()) journal.placed(eventsKey(day), fileOf(day));
  }

  function fileOf(day: string): string {
    return `${layout.events}${path.sep}${day}.jsonl`;
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
