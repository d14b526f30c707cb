/**
 * Counts how many tasks were recently created under each root, from `events/*.jsonl`. Every process
 * writes an event for each task it creates, so no other record is needed. The first call reads the
 * newest file backwards to the requested time; later calls read only new lines.
 */
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { Event } from '../../domain/event.js';
import { sizeOf } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { CreationRate } from '../../ports/creation-rate.js';

/** First read from the end of a file. It grows fourfold until it reaches an old enough line. */
const CHUNK_BYTES = 64 * 1024;

export function creationRate({ root: folder, disk }: { root: string; disk: Disk }): CreationRate {
  /** Creation times of the tasks under each root, in file order. */
  const created = new Map<string, number[]>();
  /** How many bytes of each file have been read. */
  const offsets = new Map<string, number>();

  return {
    madeSince(root, ms) {
      for (const name of disk.list(path.join(folder, 'events')).sort())
        if (name.endsWith('.jsonl') && name >= `${new Date(ms).toISOString().slice(0, 10)}.jsonl`)
          readMore(path.join(folder, 'events', name), ms);
      forget(ms);
      return created.get(root)?.length ?? 0;
    },
  };

  function readMore(file: string, ms: number): void {
    const stamp = disk.stamp(file);
    const size = stamp === undefined ? 0 : sizeOf(stamp);
    const before = offsets.get(file) ?? 0;
    if (size === before) return;
    // A file shrinks only if a person restored an earlier state: start over.
    const { bytes, from } = tail(file, size < before ? 0 : before, size, ms);
    const end = bytes.lastIndexOf(10) + 1; // a last line without a newline is incomplete
    for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) count(line, ms);
    offsets.set(file, from + end);
  }

  /** Reads from the first line that may be recent enough, but never before `min`. */
  function tail(file: string, min: number, size: number, ms: number): { bytes: Buffer; from: number } {
    for (let chunk = CHUNK_BYTES; ; chunk *= 4) {
      const start = Math.max(min, size - chunk);
      const read = disk.readFrom(file, start);
      if (read.kind !== 'file') return { bytes: Buffer.alloc(0), from: start };
      // A chunk from the middle of the file starts in the middle of a line.
      const skip = start === min ? 0 : read.bytes.indexOf(10) + 1;
      const bytes = read.bytes.subarray(skip);
      const first = parseEvent(bytes.subarray(0, bytes.indexOf(10) + 1).toString('utf8'));
      if (start === min || (first !== undefined && Date.parse(first.at) < ms)) return { bytes, from: start + skip };
    }
  }

  function count(line: string, ms: number): void {
    const event = line.includes('"task.created"') ? parseEvent(line) : undefined;
    if (event?.name !== 'task.created' || event.task === undefined) return;
    const root = event.root ?? event.task.split('.', 1)[0]!;
    const at = Date.parse(event.at);
    if (event.task === root || !(at >= ms)) return;
    created.set(root, [...(created.get(root) ?? []), at]);
  }

  function forget(ms: number): void {
    for (const [root, times] of created) {
      const recent = times.filter((at) => at >= ms);
      if (recent.length === 0) created.delete(root);
      else if (recent.length < times.length) created.set(root, recent);
    }
  }
}

/** Undefined for a line torn by a power cut. */
function parseEvent(line: string): Event | undefined {
  return attempt(() => JSON.parse(line) as Event);
}
