/** Which open tasks are worth looking at, and which wait for others. Pure questions to the tree; nothing is stored. */
import { problem, type Problem } from '../domain/problem.js';
import type { OpenState, Task } from '../domain/task.js';

/** Whether a parked task may have something new to do: one of those it waits for is open no longer, or its time has come. */
export function mayMove(task: Task, state: OpenState, isOpen: (id: string) => boolean, nowIso: string): boolean {
  if (state === 'pending') return !task.dependencies.some(isOpen);
  if (state !== 'waiting') return false;
  const { tasks, until } = task.waits ?? {};
  if (until !== undefined && until <= nowIso) return true;
  if (tasks === undefined) return until === undefined;
  return tasks.length === 0 || tasks.some((id) => !isOpen(id));
}

/** The cycle of dependencies that this task is part of, written out; iterative, so a long chain does not overflow. */
export function dependencyCycle(start: Task, find: (id: string) => Task | undefined): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const stack = [start.id];
  const seen = new Set<string>();
  while (stack.length > 0) {
    const id = stack.pop()!;
    for (const next of find(id)?.dependencies ?? []) {
      if (next === start.id) return pathTo(id, cameFrom, start.id);
      if (seen.has(next)) continue;
      seen.add(next);
      cameFrom.set(next, id);
      stack.push(next);
    }
  }
  return undefined;
}

function pathTo(end: string, cameFrom: Map<string, string>, start: string): string[] {
  const path = [start, end];
  for (let at = cameFrom.get(end); at !== undefined; at = cameFrom.get(at)) path.push(at);
  if (path.at(-1) !== start) path.push(start);
  const cycle = path.reverse();
  return end === start ? [start, start] : cycle;
}

export function cycleProblem(cycle: string[]): Problem {
  return problem('cycle', `its dependencies form a cycle: ${cycle.join(' → ')}`, {
    hint: 'remove one of these dependencies and retry the task',
  });
}
