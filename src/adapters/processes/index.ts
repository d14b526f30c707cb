/**
 * Identifies a process by pid, machine boot and start time. A pid alone is reused; the three
 * together are unique. So a peer counts as dead only if its own process has ended, and a stopped
 * process (SIGSTOP) keeps its tasks.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import type { Processes, ProcessIdentity } from '../../ports/processes.js';
import { parseStat, type ProcessEntry } from '../../text/lines/process-stat.js';

export function processes(): Processes {
  const bootId = readBootId();
  const me: ProcessIdentity = {
    host: os.hostname(),
    bootId,
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? 'unknown',
  };
  return { me: () => me, isAlive: (identity) => isAlive(identity, bootId) };
}

/** A process on another host cannot be checked, so it counts as alive. */
function isAlive(identity: ProcessIdentity, bootId: string): boolean {
  if (identity.host !== os.hostname()) return true;
  if (identity.bootId !== bootId) return false;
  const now = startTimeOf(identity.pid);
  if (now === undefined) return false;
  return identity.startTime === 'unknown' || now === 'unknown' || now === identity.startTime;
}

function readBootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // macOS: use the boot time, rounded because the clock may be adjusted after boot.
    return `boot-${Math.round((Date.now() - os.uptime() * 1000) / 60_000)}`;
  }
}

/**
 * The process's start time; `unknown` if it is alive but hidden from us; undefined if it has ended.
 */
function startTimeOf(pid: number): string | undefined {
  const refusal = signalError(pid);
  if (refusal === 'ESRCH') return undefined;
  const ifHidden = refusal === 'EPERM' ? 'unknown' : undefined; // another user's process
  try {
    if (process.platform === 'linux') return inProcessTable(pid)?.since ?? ifHidden;
    return (
      ifHidden ?? (execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined)
    );
  } catch {
    return 'unknown';
  }
}

/** The error code of sending signal 0; undefined if it succeeded. */
function signalError(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/**
 * Undefined if it has ended. Throws if the table cannot be read, as when too many files are open.
 */
function inProcessTable(pid: number): ProcessEntry | undefined {
  try {
    return parseStat(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code!)) return undefined;
    throw error;
  }
}
