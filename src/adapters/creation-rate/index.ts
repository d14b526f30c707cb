/**
 * How quickly trees grow, read off history: every task that is made has a line there at once, whichever process made it, so nothing more is
 * written for it, and a process that has just started knows what was made before. Only the end of the newest file is read, back to the time
 * that is asked for, and after that only what was added.
 */
import path from 'node:path';
import type { Event } from '../../domain/event.js';
import { sizeOf } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Growth } from '../../ports/creation-rate.js';

/** What is read at once, from the end backwards, until a line is old enough. */
const PIECE = 64 * 1024;

export function growth({ root: folder, disk }: { root: string; disk: Disk }): Growth {
  /** When tasks were made under each root, in the order of their lines. */
  const made = new Map<string, number[]>();
  /** How far each file was read. */
  const read = new Map<string, number>();

  return {
    madeSince(root, ms) {
      for (const name of disk.list(path.join(folder, 'events')).sort())
        if (name.endsWith('.jsonl') && name >= `${dayOf(ms)}.jsonl`) look(path.join(folder, 'events', name), ms);
      forget(ms);
      return made.get(root)?.length ?? 0;
    },
  };

  function look(file: string, ms: number): void {
    const stamp = disk.stamp(file);
    const size = stamp === undefined ? 0 : sizeOf(stamp);
    const before = read.get(file) ?? 0;
    // Smaller than before: a person went back to an earlier state of the folder.
    if (size === before) return;
    const { bytes, from } = tail(file, size < before ? 0 : before, size, ms);
    const end = bytes.lastIndexOf(10) + 1; // a last line without newline is not yet a line
    for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) count(line, ms);
    read.set(file, from + end);
  }

  /** From the first line that may be young enough, or from what was read before. */
  function tail(file: string, least: number, size: number, ms: number): { bytes: Buffer; from: number } {
    for (let piece = PIECE; ; piece *= 4) {
      const start = Math.max(least, size - piece);
      const found = disk.readFrom(file, start);
      if (found.kind !== 'file') return { bytes: Buffer.alloc(0), from: start };
      // In the middle of a file a piece begins in the middle of a line.
      const skip = start === least ? 0 : found.bytes.indexOf(10) + 1;
      const bytes = found.bytes.subarray(skip);
      const first = parsed(bytes.subarray(0, bytes.indexOf(10) + 1).toString('utf8'));
      if (start === least || (first !== undefined && Date.parse(first.at) < ms)) return { bytes, from: start + skip };
    }
  }

  function count(line: string, ms: number): void {
    const event = line.includes('"task.created"') ? parsed(line) : undefined;
    if (event?.name !== 'task.created' || event.task === undefined) return;
    const root = event.root ?? event.task.split('.', 1)[0]!;
    const at = Date.parse(event.at);
    if (event.task === root || !(at >= ms)) return;
    made.set(root, [...(made.get(root) ?? []), at]);
  }

  function forget(ms: number): void {
    for (const [root, times] of made) {
      const young = times.filter((at) => at >= ms);
      if (young.length === 0) made.delete(root);
      else if (young.length < times.length) made.set(root, young);
    }
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function parsed(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined; // a torn line of a power cut; its neighbours are read
  }
}
