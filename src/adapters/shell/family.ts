/**
 * Ends everything a command started. A process group is the handle that every Unix has; on Linux the process table also shows
 * descendants that left the group, and who still holds the command's output. One that cut every tie is only caught by the
 * sandbox, whose end is the end of all in it.
 */
import { INTERVALS } from '../../domain/intervals.js';
import fs from 'node:fs';
import { parseStat, type Living } from '../../text/lines/process-stat.js';

const GRACE_MS = 2000;
const KILLED_MS = 3000;

export interface Family {
  /** Process groups that were started for the command. */
  groups: number[];
  /** The name of its output pipe. */
  output: string;
  /** Not asked to end, only killed: it would take those inside with it before they could end by themselves. */
  wrapper?: string;
}

/** SIGTERM to all, two seconds, SIGKILL to those left. Resolves when none is left, or cannot be ended. */
export async function endFamily(family: Family): Promise<void> {
  const known = new Map<string, Living>();
  const first = [...members(family, known), ...holders(family, known)];
  for (const one of first) if (one.name !== family.wrapper) send(one.pid, 'SIGTERM');
  if (!hasProcessTable()) for (const group of family.groups) send(-group, 'SIGTERM');
  await until(GRACE_MS, () => isGone(family, members(family, known)));
  await until(KILLED_MS, () => {
    const left = [...members(family, known), ...holders(family, known)];
    if (isGone(family, left)) return true;
    for (const group of family.groups) send(-group, 'SIGKILL');
    for (const one of left) send(one.pid, 'SIGKILL');
    return false;
  });
}

/** Whether a process of this group lives, its leader or another. */
export function groupLives(group: number): boolean {
  return send(-group, 0) && (!hasProcessTable() || processTable().some((one) => one.group === group));
}

function isGone(family: Family, left: Living[]): boolean {
  if (hasProcessTable()) return left.length === 0;
  return family.groups.every((group) => !send(-group, 0));
}

/** Those in its groups, and their descendants. `known` remembers them: one whose parent has died is found no other way. */
function members(family: Family, known: Map<string, Living>): Living[] {
  const all = processTable();
  const mine = new Set(
    all.filter((one) => family.groups.includes(one.group) || known.has(key(one))).map((one) => one.pid),
  );
  for (let before = -1; before !== mine.size;) {
    before = mine.size;
    for (const one of all) if (mine.has(one.parent)) mine.add(one.pid);
  }
  const found = all.filter((one) => mine.has(one.pid));
  for (const one of found) known.set(key(one), one);
  return found;
}

/** Others that can still write to its output: they left the group and lost their parents. Looks at every open file, so it is called rarely. */
function holders(family: Family, known: Map<string, Living>): Living[] {
  const found = processTable().filter((one) => !known.has(key(one)) && holds(one.pid, family.output));
  for (const one of found) known.set(key(one), one);
  return found;
}

function key(one: Living): string {
  return `${one.pid} ${one.since}`;
}

function hasProcessTable(): boolean {
  return process.platform === 'linux' && fs.existsSync('/proc/self/stat');
}

function processTable(): Living[] {
  if (!hasProcessTable()) return [];
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return parseStat(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    } catch {
      return []; // it ended while we looked
    }
  });
}

function holds(pid: number, pipe: string): boolean {
  if (pid === process.pid) return false;
  try {
    const folder = `/proc/${pid}/fd`;
    return fs.readdirSync(folder).some((fd) => linkOf(`${folder}/${fd}`).startsWith(`${pipe} (deleted)`));
  } catch {
    return false; // Another user's, or gone.
  }
}

function linkOf(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return '';
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function until(ms: number, isDone: () => boolean): Promise<void> {
  const end = performance.now() + ms;
  while (!isDone() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, INTERVALS.processCheckMs));
}
