/**
 * The urgency of a need, which sets the priority of its task and note; and readers for such fields.
 */
import type { Task } from '../task/task.js';

export const URGENCIES = ['low', 'normal', 'high', 'critical'] as const;
export type Urgency = (typeof URGENCIES)[number];

const PRIORITIES: Record<Urgency, Task['priority']> = { critical: 'A', high: 'B', normal: 'C', low: 'D' };

export function priorityOf(urgency: Urgency): Task['priority'] {
  return PRIORITIES[urgency];
}

/** Any other value counts as normal. */
export function urgencyIn(value: unknown): Urgency {
  return URGENCIES.find((urgency) => urgency === value) ?? 'normal';
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((item) => textIn(item) ?? []) : [];
}
