/**
 * Which requests each version of the ballot showed, in `.guild/ballot-versions/<number>.json`. The
 * end line of the file names its version, so a missing entry of an old version is not mistaken for
 * one that a person removed. A number is used once, by any process.
 */
import { attempt } from '../../domain/attempt.js';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

interface Versions {
  /**
   * Reserves the next version number, above `above` and all earlier ones, for a ballot with these
   * ids.
   */
  take(above: number, ids: readonly string[]): number;
  /** Undefined if it is not known: in a copy without `.guild/`, or long ago. */
  shown(version: number): ReadonlySet<string> | undefined;
  /** Whether one of the kept versions showed it. */
  hasShown(id: string): boolean;
}

/** How many versions are kept, for editors that have an old one open. */
const KEPT = 100;

export function versions(disk: Disk, folder: string): Versions {
  const fileOf = (version: number): string => path.join(folder, `${version}.json`);
  const numbers = (): number[] => disk.list(folder).flatMap((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? []));
  const shown: Versions['shown'] = (version) => {
    const read = disk.read(fileOf(version));
    if (read.kind !== 'file') return undefined;
    // A power cut may have torn it.
    const ids: unknown = attempt(() => JSON.parse(read.bytes.toString('utf8')));
    return Array.isArray(ids) ? new Set(ids.map(String)) : undefined;
  };
  return {
    take(above, ids) {
      disk.makeFolder(folder, 0o700);
      const taken = numbers();
      let version = Math.max(above, ...taken) + 1;
      while (!disk.create(fileOf(version), JSON.stringify(ids))) version++;
      for (const old of taken) if (old <= version - KEPT) disk.remove(fileOf(old));
      return version;
    },
    shown,
    hasShown: (id) => numbers().some((version) => shown(version)?.has(id)),
  };
}
