/**
 * What this process knows of an agent beyond what was told: the tasks it saw in its hands, how they ended, and the roots they were of. An agent that is
 * never at rest is told of seldom, so what has ended is forgotten as it works: a memory has the size of what is open, and a little more.
 */
import type { Task } from '../../domain/task/task.js';
import { failureOf } from '../../rules/staffing/track-record.js';
import type { Past, OpenTask } from '../../rules/coordination/agent-states.js';
import type { PublishedState } from '../../rules/coordination/published-states.js';

export interface Memory {
  /** Its begun tasks when it was last looked at, and their roots. */
  tasks: Map<string, string | undefined>;
  /** How those ended that ended here: why it failed by its taker's fault, or an empty text. */
  ended: Map<string, string>;
  roots: Set<string>;
  worked: boolean;
  last?: string;
  failed?: string;
}

type IsOpen = (id: string) => boolean;

export function newMemory(told: PublishedState): Memory {
  const made: Memory = { tasks: new Map(), ended: new Map(), roots: new Set(), worked: false };
  learn(made, told);
  return made;
}

/** What was told of its past counts as if this process had seen it. */
export function learn(memory: Memory, { task, roots, worked, failed, state }: PublishedState): void {
  for (const root of roots) memory.roots.add(root);
  memory.worked ||= worked;
  if (task === undefined) return;
  memory.last = task;
  if ((state === 'working' || state === 'blocked') && !memory.tasks.has(task)) memory.tasks.set(task, undefined);
  if (failed === undefined) delete memory.failed;
  else memory.failed = failed;
}

/** Its begun tasks now, and what it took and ended here since the last look. */
export function sees(
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

/** Ended tasks of an agent with work that nobody here saw end. */
const MOST_UNASKED = 10;
/** Roots that others ended are forgotten when there are more. */
const MOST_ROOTS = 100;

/** For an agent that has work. `isOurs`: it is in the hands of this process. */
export function forgetEnded({ tasks, ended, roots }: Memory, isOpen: IsOpen, isOurs: IsOpen): void {
  let unasked = 0;
  for (const id of [...tasks.keys()].reverse()) {
    if (isOpen(id) || isOurs(id)) continue;
    if (ended.has(id) || ++unasked > MOST_UNASKED) tasks.delete(id);
  }
  ended.clear();
  if (roots.size > MOST_ROOTS) for (const root of roots) if (!isOpen(root)) roots.delete(root);
}

/**
 * For an agent that has none: learns how those of its tasks ended that are open no longer. False if one of them may be open after all. `endOf`:
 * its record, or that nobody has it any more, or that it cannot be said now.
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
      const found = await endOf(id);
      if (found === 'unknown') return false;
      if (found !== 'gone') memory.roots.add(found.root);
      why ??= (found === 'gone' ? undefined : failureOf(found.error)) ?? '';
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
  return { worked, roots, ...(last === undefined ? {} : { last }), ...(failed === undefined ? {} : { failed }) };
}
