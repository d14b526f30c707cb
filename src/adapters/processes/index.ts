/**
 * Identifies a process by machine boot, pid namespace, pid and start time. A pid alone is reused;
 * together they are unique. So a peer counts as dead only if its own process has ended, and a
 * stopped process (SIGSTOP) keeps its tasks.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { defined } from '../../domain/defined.js';
import { whereabouts } from '../../domain/peer.js';
import type { Processes, ProcessIdentity } from '../../ports/processes.js';
import { parseStat, type ProcessEntry } from '../../text/lines/process-stat.js';

export function processes(): Processes {
  const pidNamespace = readPidNamespace();
  const me: ProcessIdentity = defined({
    host: os.hostname(),
    bootId: readBootId(),
    pidNamespace,
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? 'unknown',
  });
  return { me: () => me, isAlive: (identity) => isAlive(identity, me) };
}

function isAlive(identity: ProcessIdentity, me: ProcessIdentity): boolean {
  const where = whereabouts(identity, me);
  if (where !== 'here') return where === 'elsewhere';
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

/** Such as `pid:[4026531836]`. A container usually has a separate one. */
function readPidNamespace(): string | undefined {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
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
