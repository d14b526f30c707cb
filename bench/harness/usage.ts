/**
 * The usage of a process and everything it started: processor time and bytes written to disk. Linux
 * adds the use of a child process to its parent when the child is reaped. Children that still run,
 * such as a long-lived `git fast-import`, are read from /proc. The sum therefore never falls,
 * whichever process ends in between. A process that detached itself from its parent is not seen.
 */
import fs from 'node:fs';

interface Usage {
  /** User and system time of all threads, with all children. */
  cpuMs: number;
  /** Bytes that went to the disk in whole pages; undefined if the system does not say. */
  writtenBytes: number | undefined;
}

/** The usage of the calling process. Without /proc, only its own processor time is known. */
export function ownUsage(): Usage {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  const stat = readStat('self');
  if (stat === undefined) return { cpuMs: own, writtenBytes: undefined };
  const below = descendants(process.pid).map(usageOf);
  return {
    cpuMs: own + stat.reapedMs + sum(below.map(({ cpuMs }) => cpuMs)),
    writtenBytes: (writtenBy('self') ?? 0) + sum(below.map(({ writtenBytes }) => writtenBytes ?? 0)),
  };
}

/** Processor time of children that have ended, in steps of 10 ms. */
export function reapedCpuMs(): number {
  return readStat('self')?.reapedMs ?? 0;
}

/** Processor time of all threads of a running process; exact, unlike the ticks in its stat. */
export function threadsCpuMs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const times = fs.readdirSync(folder).map((thread) => {
    const text = readText(`${folder}/${thread}/schedstat`) ?? '0';
    return Number(text.split(' ')[0]) / 1e6;
  });
  return sum(times);
}

/** The largest resident memory so far, in kB; undefined once the process has ended. */
export function peakMemoryKb(pid: number): number | undefined {
  const found = /^VmHWM:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '');
  return found === null ? undefined : Number(found[1]);
}

function usageOf(pid: number): Usage {
  const stat = readStat(String(pid));
  return {
    cpuMs: stat === undefined ? 0 : stat.ownMs + stat.reapedMs,
    writtenBytes: writtenBy(String(pid)),
  };
}

function descendants(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of fs.readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : undefined;
    if (stat !== undefined) parents.set(Number(name), stat.parent);
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (parents.get(pid) === root || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

interface Stat {
  parent: number;
  ownMs: number;
  /** The time of its children that have ended. */
  reapedMs: number;
}

const TICK_MS = 10;

function readStat(pid: string): Stat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (at: number): number => Number(fields[at]) * TICK_MS;
  return { parent: Number(fields[1]), ownMs: ticks(11) + ticks(12), reapedMs: ticks(13) + ticks(14) };
}

function writtenBy(pid: string): number | undefined {
  const found = /^write_bytes: (\d+)/m.exec(readText(`/proc/${pid}/io`) ?? '');
  return found === null ? undefined : Number(found[1]);
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
