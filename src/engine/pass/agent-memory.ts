/**
 * An agent's recent past as this process saw it: its tasks, their roots, and how they ended. Ended
 * tasks are forgotten while the agent works, so memory stays proportional to the open tasks.
 */
import { defined } from '../../domain/defined.js';
import type { Task } from '../../domain/task/task.js';
import { failureOf } from '../../rules/staffing/track-record.js';
import type { Past, OpenTask } from '../../rules/coordination/agent-states.js';
import type { PublishedState } from '../../rules/coordination/published-states.js';

export interface Memory {
  /** Its started tasks at the last look, with their roots. */
  tasks: Map<string, string | undefined>;
  /** How tasks ended here: why one failed if the agent caused it, or an empty text. */
  ended: Map<string, string>;
  roots: Set<string>;
  worked: boolean;
  last?: string;
  failed?: string;
}

type IsOpen = (id: string) => boolean;

export function newMemory(published: PublishedState): Memory {
  const memory: Memory = { tasks: new Map(), ended: new Map(), roots: new Set(), worked: false };
  learn(memory, published);
  return memory;
}

/** Takes over what another process published about the agent. */
export function learn(memory: Memory, { task, roots, worked, failed, state }: PublishedState): void {
  for (const root of roots) memory.roots.add(root);
  memory.worked ||= worked;
  if (task === undefined) return;
  memory.last = task;
  if ((state === 'working' || state === 'blocked') && !memory.tasks.has(task)) memory.tasks.set(task, undefined);
  if (failed === undefined) delete memory.failed;
  else memory.failed = failed;
}

/** Notes its started tasks, and those it took and ended here since the last look. */
export function observe(
  memory: Memory,
  tasks: readonly OpenTask[],
  { took, ended }: { took: readonly string[]; ended: readonly (readonly [task: string, why: string])[] },
): void {
  for (const id of took) if (!memory.tasks.has(id)) memory.tasks.set(id, undefined);
  for (const [id, why] of ended) memory.ended.set(id, why);
  for (const { task } of tasks) {
    memory.tasks.set(task.id, task.root);
    memory.roots.add(task.root);
  }
  if (tasks.length > 0) {
    memory.worked = true;
    delete memory.failed;
  }
  for (const [root] of ended) if (memory.roots.size > 1) memory.roots.delete(root);
}

/** Tasks of a working agent that ended elsewhere and whose outcome is not known here. */
const MAX_UNKNOWN = 10;
/** Above this number, roots that ended elsewhere are forgotten. */
const MAX_ROOTS = 100;

/** For an agent that has work. `isOurs`: this process works on the task. */
export function forgetEnded({ tasks, ended, roots }: Memory, isOpen: IsOpen, isOurs: IsOpen): void {
  let unknown = 0;
  for (const id of [...tasks.keys()].reverse()) {
    if (isOpen(id) || isOurs(id)) continue;
    if (ended.has(id) || ++unknown > MAX_UNKNOWN) tasks.delete(id);
  }
  ended.clear();
  if (roots.size > MAX_ROOTS) for (const root of roots) if (!isOpen(root)) roots.delete(root);
}

/**
 * For an agent without work: learns how its tasks ended. False if one of them may still be open.
 * `endOf`: the ended record, `gone` if the file was removed, or `unknown` if it may be moving.
 */
export async function learnEnds(
  memory: Memory,
  isOpen: IsOpen,
  isOurs: IsOpen,
  endOf: (id: string) => Promise<Task | 'gone' | 'unknown'>,
): Promise<boolean> {
  for (const [id, root] of memory.tasks) {
    if (isOpen(id)) continue;
    if (isOurs(id)) return false;
    let why = memory.ended.get(id);
    if (why === undefined || root === undefined) {
      const end = await endOf(id);
      if (end === 'unknown') return false;
      if (end !== 'gone') memory.roots.add(end.root);
      why ??= (end === 'gone' ? undefined : failureOf(end.error)) ?? '';
    }
    memory.tasks.delete(id);
    memory.ended.delete(id);
    memory.worked = true;
    memory.last = id;
    if (why === '') delete memory.failed;
    else memory.failed = why;
  }
  return true;
}

export function openRoots({ roots }: Memory, { isOpen }: { isOpen: IsOpen }): string[] {
  for (const root of roots) if (!isOpen(root)) roots.delete(root);
  return [...roots];
}

export function pastOf({ worked, roots, last, failed }: Memory): Past {
  return defined({ worked, roots, last, failed });
}
