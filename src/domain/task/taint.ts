/**
 * The outside sources that have influenced a task: `slack/sarah`, `web/web_search`. They are in its
 * context and are passed on to its children, so that a human who approves an action sees them.
 */
import type { Task } from './task.js';

export function taintIn(task: Pick<Task, 'context'>): string[] {
  const { taint } = task.context;
  return Array.isArray(taint) ? taint.map(String) : [];
}

/** The same object if the task already has all of them. */
export function withTaint(task: Task, more: Iterable<string>): Task {
  const before = taintIn(task);
  const all = new Set([...before, ...more]);
  return all.size === before.length ? task : { ...task, context: { ...task.context, taint: [...all] } };
}
