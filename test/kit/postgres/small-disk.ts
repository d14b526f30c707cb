/** A disk that a test can fill: a file system in memory, which only root can mount. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

interface SmallDisk {
  readonly folder: string;
  /** Fills the disk completely. */
  fill(): void;
  free(): void;
  remove(): void;
}

/** Undefined: this user cannot mount one. */
export function smallDisk(megabytes: number): SmallDisk | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-small-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder]);
  if (mounted.status !== 0) {
    fs.rmdirSync(folder);
    return undefined;
  }
  const ballast = path.join(folder, 'ballast');
  return {
    folder,
    fill() {
      const block = Buffer.alloc(64 * 1024);
      const file = fs.openSync(ballast, 'a');
      try {
        for (let size = block.length; size >= 1024; size /= 2) writeUntilFull(file, block.subarray(0, size));
      } finally {
        fs.closeSync(file);
      }
    },
    free: () => fs.rmSync(ballast, { force: true }),
    remove() {
      spawnSync('umount', ['-l', folder]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function writeUntilFull(file: number, block: Buffer): void {
  for (;;) {
    try {
      if (fs.writeSync(file, block) < block.length) return;
    } catch {
      return;
    }
  }
}

/** Whether a test can fill a disk here. */
export function hasSmallDisk(): boolean {
  const disk = smallDisk(1);
  disk?.remove();
  return disk !== undefined;
}
