/**
 * Reads the event log incrementally: the first call returns all events, each later call only the
 * new ones.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { Event } from '../../domain/event.js';

export function eventTail(root: string): () => Event[] {
  const disk = realDisk();
  const folder = path.join(root, 'events');
  const read = new Map<string, { stamp: string; offset: number }>();

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
  try {
    return line === '' ? [] : [JSON.parse(line) as Event];
  } catch {
    return []; // torn by a power cut; its neighbours are still read
  }
}
