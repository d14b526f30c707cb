/**
 * Reports tasks that depend on one that does not exist, or name a parent that does not exist. Only
 * tasks that changed since the last look are checked, so that waiting tasks cost nothing.
 */
import { problem, type Problem } from '../../domain/problem.js';
import { missingDependency } from '../../domain/task/missing-dependency.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** Returns each problem once while this process lives. */
export async function missingDependencies(context: EngineContext): Promise<Problem[]> {
  const { tasks, faults, lastLook } = context;
  const version = tasks.version();
  const changed = tasks.changedSince(lastLook.version);
  lastLook.version = version;
  const candidates: Iterable<Task | undefined> =
    changed === undefined
      ? [...tasks.open()].map(({ task }) => task)
      : [...new Set(changed)].map((id) => tasks.getOpen(id)?.task);
  const problems: Problem[] = [];
  for (const task of candidates) {
    const orphan = task && (await missingParent(context, task));
    if (orphan && !faults.has(orphan.message)) problems.push(orphan);
    if (orphan) faults.add(orphan.message);
    for (const id of task?.dependencies ?? []) {
      if (tasks.isOpen(id) || (await tasks.read(id)) !== undefined) continue;
      const missing = missingDependency(task!, id);
      if (!faults.has(missing.message)) problems.push(missing);
      faults.add(missing.message);
    }
  }
  return problems;
}

/** A person may name any parent. The task is still done, but no parent gets its result. */
async function missingParent({ tasks }: EngineContext, { id, parent }: Task): Promise<Problem | undefined> {
  if (parent === undefined || id.startsWith(`${parent}.`)) return undefined;
  if (tasks.isOpen(parent) || (await tasks.read(parent)) !== undefined) return undefined;
  const hint = 'correct or remove "parent" in its file; meanwhile the task is worked on without a parent';
  return problem('not_found', `${id} names the parent ${parent}, which does not exist`, { hint });
}
