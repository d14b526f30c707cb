/**
 * Who a process is, beyond its pid: machine boot and start time. A pid alone is reused; the three together never are,
 * so a peer counts as dead only when this very process is gone, and a paused one is not robbed.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import type { Processes, ProcessIdentity } from '../ports/processes.js';

export function processes(): Processes {
  const me: ProcessIdentity = {
    host: os.hostname(),
    bootId: bootId(),
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? 'unknown',
  };
  return { me: () => me, isAlive };
}

/** On another host nothing is certain, so a process there counts as alive. */
function isAlive(who: ProcessIdentity): boolean {
  if (who.host !== os.hostname()) return true;
  if (who.bootId !== bootId()) return false;
  const now = startTimeOf(who.pid);
  if (now === undefined) return false;
  return who.startTime === 'unknown' || now === 'unknown' || now === who.startTime;
}

let knownBoot: string | undefined;

function bootId(): string {
  knownBoot ??= readBootId();
  return knownBoot;
}

function readBootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // macOS: the boot time does for an id; it is rounded because the clock may be adjusted after boot.
    return `boot-${Math.round((Date.now() - os.uptime() * 1000) / 60_000)}`;
  }
}

/** The process's start time as the system tells it; `unknown` if it lives but cannot be asked; undefined if it is gone. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in parentheses may hold anything; the fields after its last ')' are plain. A zombie (Z) or dead (X) writes no more.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'unknown' : undefined;
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return 'unknown';
  }
}
