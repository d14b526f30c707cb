/**
 * Starts of effects on this machine, one line each in a file for every day. They are kept for two
 * days: a database that comes back after a failover is sent the starts that it lost.
 */
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { Disk } from '../../ports/disk.js';
import type { Witness } from './effects.js';

interface Start {
  id: string;
  digest: string;
  at: string;
}

const DAY_MS = 86_400_000;

export function witness(disk: Disk, folder: string, now: () => Date): Witness {
  const started = new Map<string, { digest: string; at: string }>();
  const day = (ms: number): string => `${new Date(ms).toISOString().slice(0, 10)}.jsonl`;
  disk.makeFolder(folder, 0o700);
  const today = now().getTime();
  for (const name of disk.list(folder).sort()) {
    if (name < day(today - DAY_MS)) disk.remove(path.join(folder, name));
    else for (const { id, digest, at } of startsIn(disk, path.join(folder, name))) started.set(id, { digest, at });
  }
  return {
    started: (effect) => started.get(effect),
    note(effect, { digest, at }) {
      started.set(effect, { digest, at });
      const start: Start = { id: effect, digest, at };
      const file = path.join(folder, day(now().getTime()));
      disk.create(file, '');
      disk.append(file, `${JSON.stringify(start)}\n`);
    },
  };
}

/** A line torn by a power cut is left out. */
function startsIn(disk: Disk, file: string): Start[] {
  const read = disk.read(file);
  const lines = read.kind === 'file' ? read.bytes.toString('utf8').split('\n') : [];
  return lines.flatMap((line) => {
    return attempt(() => (line === '' ? [] : [JSON.parse(line) as Start]), []);
  });
}
