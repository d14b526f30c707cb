/**
 * Reads the event log incrementally: each call returns the events that were added since the last
 * one, or since the index saw the log.
 */
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { Event } from '../../domain/event.js';
import type { Disk } from '../../ports/disk.js';

/** `ends`: where to start in each file; a file that is not listed is read from its start. */
export function eventTail(disk: Disk, root: string, ends: ReadonlyMap<string, number>): () => Event[] {
  const folder = path.join(root, 'events');
  const read = new Map([...ends].map(([file, offset]) => [file, { stamp: '', offset }]));

  return () =>
    disk
      .list(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .flatMap((name) => added(path.join(folder, name)));

  function added(file: string): Event[] {
    const stamp = disk.stamp(file);
    const before = read.get(file);
    if (stamp === undefined || before?.stamp === stamp) return [];
    const added = disk.readFrom(file, before?.offset ?? 0);
    if (added.kind !== 'file') return [];
    // A last line without a newline is incomplete.
    const end = added.bytes.lastIndexOf(10) + 1;
    read.set(file, { stamp, offset: (before?.offset ?? 0) + end });
    return added.bytes.subarray(0, end).toString('utf8').split('\n').flatMap(parsed);
  }
}

function parsed(line: string): Event[] {
  // A power cut may have torn it; its neighbours are still read.
  return attempt(() => (line === '' ? [] : [JSON.parse(line) as Event]), []);
}
