/** The event log: `events/<day>.jsonl`. */
import path from 'node:path';
import type { Event } from '../../../domain/event.js';
import type { Disk } from '../../../ports/disk.js';
import type { Events } from '../../../ports/store/events.js';
import type { Lag } from '../base/lag.js';
import { syncIfThere } from '../base/atomic-write.js';
import type { Layout } from '../base/layout.js';

/**
 * `isBehind`: the task's record is not on disk yet, so its event lines may follow `soon`, batched.
 * All other lines are written at once.
 */
export function events(
  disk: Disk,
  layout: Layout,
  isBehind: (task: string) => boolean = () => false,
  soon: Lag = setImmediate,
): Events & { flush(): Promise<void> } {
  const unsynced = new Set<string>();
  const pending: { day: string; line: string }[] = [];
  let broken: { thrown: unknown } | undefined;

  return {
    append(event) {
      if (broken !== undefined) throw broken.thrown;
      pending.push({ day: event.at.slice(0, 10), line: `${JSON.stringify(event)}\n` });
      if (event.task === undefined || !isBehind(event.task)) writePending();
      else if (pending.length === 1) soon(writeSoon);
    },
    async list({ task, limit = Infinity } = {}) {
      writePending();
      return readEvents(disk, layout, task, limit);
    },
    async flush() {
      if (broken !== undefined) throw broken.thrown;
      writePending();
      const files = [...unsynced];
      unsynced.clear();
      await Promise.all(files.map((file) => syncIfThere(disk, file)));
    },
  };

  function writeSoon(): void {
    try {
      writePending();
    } catch (thrown) {
      broken ??= { thrown }; // reported by the next append or flush
    }
  }

  function writePending(): void {
    while (pending.length > 0) {
      const { day } = pending[0]!;
      const nextDay = pending.findIndex((entry) => entry.day !== day);
      const batch = pending.splice(0, nextDay < 0 ? pending.length : nextDay);
      const file = path.join(layout.events, `${day}.jsonl`);
      if (!unsynced.has(file) && disk.stamp(file) === undefined) disk.create(file, '');
      appendOrCreate(file, batch.map(({ line }) => line).join(''));
      unsynced.add(file);
    }
  }

  /** A person may delete the file at any time. */
  function appendOrCreate(file: string, text: string): void {
    try {
      disk.append(file, text);
    } catch (thrown) {
      if (disk.stamp(file) !== undefined || !disk.create(file, text)) throw thrown;
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
