/** How urgent an ask is: it gives the priority of the task, and of the note that tells of it. Also how such words are read off a record. */
import type { Task } from '../task/task.js';

export const URGENCIES = ['low', 'normal', 'high', 'critical'] as const;
export type Urgency = (typeof URGENCIES)[number];

const PRIORITIES: Record<Urgency, Task['priority']> = { critical: 'A', high: 'B', normal: 'C', low: 'D' };

export function priorityOf(urgency: Urgency): Task['priority'] {
  return PRIORITIES[urgency];
}

/** Whatever else a record says is normal. */
export function urgencyIn(value: unknown): Urgency {
  return URGENCIES.find((one) => one === value) ?? 'normal';
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((one) => textIn(one) ?? []) : [];
}
