/**
 * Ends everything a command started. Every Unix has process groups; on Linux the process table also
 * shows descendants that left the group and processes that hold the command's output. A process
 * that detached from all of these is only ended by the sandbox.
 */
import { attempt } from '../../domain/attempt.js';
import { INTERVALS } from '../../domain/intervals.js';
import fs from 'node:fs';
import { parseStat, type ProcessEntry } from '../../text/lines/process-stat.js';

const GRACE_MS = 2000;
const KILLED_MS = 3000;

export interface ProcessTree {
  /** Process groups started for the command. */
  groups: number[];
  /** The name of its output pipe. */
  output: string;
  /** Gets no SIGTERM: it would take its children with it before they can clean up. */
  wrapper?: string;
}

/**
 * SIGTERM to all, then after two seconds SIGKILL. Resolves when all have ended or cannot be ended.
 */
export async function endProcessTree(tree: ProcessTree): Promise<void> {
  const seen = new Map<string, ProcessEntry>();
  const first = [...members(tree, seen), ...holders(tree, seen)];
  for (const entry of first) if (entry.name !== tree.wrapper) send(entry.pid, 'SIGTERM');
  if (!hasProcessTable()) for (const group of tree.groups) send(-group, 'SIGTERM');
  await until(GRACE_MS, () => isGone(tree, members(tree, seen)));
  await until(KILLED_MS, () => {
    const remaining = [...members(tree, seen), ...holders(tree, seen)];
    if (isGone(tree, remaining)) return true;
    for (const group of tree.groups) send(-group, 'SIGKILL');
    for (const entry of remaining) send(entry.pid, 'SIGKILL');
    return false;
  });
}

export function isGroupAlive(group: number): boolean {
  return send(-group, 0) && (!hasProcessTable() || processTable().some((entry) => entry.group === group));
}

function isGone(tree: ProcessTree, remaining: ProcessEntry[]): boolean {
  if (hasProcessTable()) return remaining.length === 0;
  return tree.groups.every((group) => !send(-group, 0));
}

/** The processes of its groups and their descendants. `seen` keeps those whose parent has ended. */
function members(tree: ProcessTree, seen: Map<string, ProcessEntry>): ProcessEntry[] {
  const all = processTable();
  const pids = new Set(
    all.filter((entry) => tree.groups.includes(entry.group) || seen.has(key(entry))).map((entry) => entry.pid),
  );
  for (let before = -1; before !== pids.size;) {
    before = pids.size;
    for (const entry of all) if (pids.has(entry.parent)) pids.add(entry.pid);
  }
  const living = all.filter((entry) => pids.has(entry.pid));
  for (const entry of living) seen.set(key(entry), entry);
  return living;
}

/** Detached processes that can still write to its output. Expensive: it checks every open file. */
function holders(tree: ProcessTree, seen: Map<string, ProcessEntry>): ProcessEntry[] {
  const holding = processTable().filter((entry) => !seen.has(key(entry)) && holds(entry.pid, tree.output));
  for (const entry of holding) seen.set(key(entry), entry);
  return holding;
}

function key(entry: ProcessEntry): string {
  return `${entry.pid} ${entry.since}`;
}

function hasProcessTable(): boolean {
  return process.platform === 'linux' && fs.existsSync('/proc/self/stat');
}

function processTable(): ProcessEntry[] {
  if (!hasProcessTable()) return [];
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    // It may just have ended.
    return attempt(() => parseStat(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [], []);
  });
}

function holds(pid: number, pipe: string): boolean {
  if (pid === process.pid) return false;
  const folder = `/proc/${pid}/fd`;
  // Nothing can be listed if the process belongs to another user or has ended.
  const names = attempt(() => fs.readdirSync(folder), []);
  return names.some((fd) => linkOf(`${folder}/${fd}`).startsWith(`${pipe} (deleted)`));
}

function linkOf(file: string): string {
  return attempt(() => fs.readlinkSync(file), '');
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  return attempt(() => process.kill(pid, signal), false);
}

async function until(ms: number, isDone: () => boolean): Promise<void> {
  const end = performance.now() + ms;
  while (!isDone() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, INTERVALS.processCheckMs));
}
