/** Where benchmarks work: an ordinary temporary folder on a disk, and a cache that is kept. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * `BENCH_DIR`, else the folder for temporary files. Never a folder in memory: a sync costs nothing
 * there, which would flatter every subject that syncs.
 */
export function scratchFolder(): string {
  const chosen = process.env['BENCH_DIR'];
  const candidates = chosen === undefined ? [os.tmpdir(), '/var/tmp', os.homedir()] : [chosen];
  const found = candidates.find((folder) => fs.existsSync(folder) && fs.statfsSync(folder).type !== TMPFS);
  if (found === undefined) throw new Error('no folder on a disk found; set BENCH_DIR to one');
  return found;
}

const TMPFS = 0x01021994;

/** Older builds and peers are kept here between runs. `BENCH_CACHE` names another place. */
export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache');
  const folder = process.env['BENCH_CACHE'] ?? path.join(base, 'guildhall-bench');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** Disk space that the files under a folder take, in bytes; 0 if it does not exist. */
export function diskUsage(folder: string): number {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.blocks * 512;
  return fs.readdirSync(folder).reduce((total, name) => {
    try {
      return total + diskUsage(path.join(folder, name));
    } catch {
      return total; // removed meanwhile
    }
  }, 0);
}
