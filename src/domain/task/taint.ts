/**
 * Where words came from that nobody here wrote: `slack/sarah`, `web/web_search`. A task carries it in its context, and so does everything
 * that follows from it, so that a human who is asked to allow something sees who may have had a hand in it.
 */
import type { Task } from './task.js';

export function taintIn(task: Pick<Task, 'context'>): string[] {
  const { taint } = task.context;
  return Array.isArray(taint) ? taint.map(String) : [];
}

/** The same task if it carries all of that already. */
export function withTaint(task: Task, more: Iterable<string>): Task {
  const before = taintIn(task);
  const all = new Set([...before, ...more]);
  return all.size === before.length ? task : { ...task, context: { ...task.context, taint: [...all] } };
}
