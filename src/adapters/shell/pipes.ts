/**
 * Real pipes that two child processes can share. Node has none: it reads a child's `pipe` itself. A
 * FIFO that is opened at both ends and then unlinked is a pipe.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;

export interface Pipe {
  read: number;
  write: number;
  /** Its name in `/proc/<pid>/fd`, to find the processes that hold it. */
  name: string;
}

/** Creates pipes. We read the first without blocking; children hold both ends of the others. */
export function pipes(count: number, PATH: string): Pipe[] {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'guild-pipes-'));
  try {
    const names = Array.from({ length: count }, (_, n) => path.join(folder, String(n)));
    const result = spawnSync('mkfifo', ['-m', '600', ...names], { env: { PATH }, encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`mkfifo failed: ${result.error?.message ?? result.stderr.trim()}`);
    return names.map((name, n) => open(name, n === 0));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Opening one end of a FIFO blocks until the other is open, so open the non-blocking end first. */
function open(name: string, ours: boolean): Pipe {
  const first = fs.openSync(name, O_RDONLY | O_NONBLOCK);
  const write = fs.openSync(name, O_WRONLY);
  if (ours) return { read: first, write, name };
  const read = fs.openSync(name, O_RDONLY);
  fs.closeSync(first);
  return { read, write, name };
}
