/** The lines of history as they come: the first call gives all there are, each later one only what was added since. */
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import type { Event } from '../../domain/event.js';

export function eventTail(root: string): () => Event[] {
  const on = disk();
  const folder = path.join(root, 'events');
  const read = new Map<string, { stamp: string; offset: number }>();

  return () =>
    on
      .list(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .flatMap((name) => added(path.join(folder, name)));

  function added(file: string): Event[] {
    const stamp = on.stamp(file);
    const before = read.get(file);
    if (stamp === undefined || before?.stamp === stamp) return [];
    const found = on.readFrom(file, before?.offset ?? 0);
    if (found.kind !== 'file') return [];
    // A last line without newline is not yet a line.
    const whole = found.bytes.lastIndexOf(10) + 1;
    read.set(file, { stamp, offset: (before?.offset ?? 0) + whole });
    return found.bytes.subarray(0, whole).toString('utf8').split('\n').flatMap(parsed);
  }
}

function parsed(line: string): Event[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as Event];
  } catch {
    return []; // a torn line of a power cut; its neighbours are read
  }
}
