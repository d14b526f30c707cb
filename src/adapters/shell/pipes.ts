/**
 * Real pipes. Node makes none that two children could share: what it gives a child as `pipe` it reads itself at once, and
 * data would be lost between the two. A FIFO without a name is a pipe, so these are made, opened at both ends and unlinked.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants;

export interface Pipe {
  read: number;
  write: number;
  /** What `/proc/<pid>/fd` shows of it, for finding who still holds it. */
  name: string;
}

/** This many pipes. The first may be read without blocking, by us; the others are for children at both ends. */
export function pipes(count: number, PATH: string): Pipe[] {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'guild-pipes-'));
  try {
    const names = Array.from({ length: count }, (_, n) => path.join(folder, String(n)));
    const made = spawnSync('mkfifo', ['-m', '600', ...names], { env: { PATH }, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.trim()}`);
    return names.map((name, n) => open(name, n === 0));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Opening one end of a FIFO waits for the other; the end that does not wait goes first. */
function open(name: string, ours: boolean): Pipe {
  const first = fs.openSync(name, O_RDONLY | O_NONBLOCK);
  const write = fs.openSync(name, O_WRONLY);
  if (ours) return { read: first, write, name };
  const read = fs.openSync(name, O_RDONLY);
  fs.closeSync(first);
  return { read, write, name };
}
