/**
 * Who a process is, beyond its pid: machine boot and start time. A pid alone is reused; the three together never are,
 * so a peer counts as dead only when this very process is gone, and a paused one is not robbed.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import type { Processes, ProcessIdentity } from '../../ports/processes.js';
import { parseStat, type Living } from '../../text/lines/process-stat.js';

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
  const refusal = refusalOf(pid);
  if (refusal === 'ESRCH') return undefined;
  const ifUntold = refusal === 'EPERM' ? 'unknown' : undefined; // somebody else's, and the system may hide it
  try {
    if (process.platform === 'linux') return inProcessTable(pid)?.since ?? ifUntold;
    return (
      ifUntold ?? (execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined)
    );
  } catch {
    return 'unknown';
  }
}

/** Why it could not be sent a signal. */
function refusalOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** Undefined if it has ended. Throws if it cannot be told, as when too many files are open. */
function inProcessTable(pid: number): Living | undefined {
  try {
    return parseStat(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
}
