/**
 * A follow-up continues the conversation of an ended task. It is a new task with `session` set,
 * which takes its turn in that conversation.
 */
import type { Task } from './task.js';

export interface FollowUp {
  /** The task whose conversation continues. */
  task: string;
  /** The message is already in the conversation, from this place on: a person wrote it there. */
  from?: number;
}

export function followUpOf({ context }: Pick<Task, 'context'>): FollowUp | undefined {
  const follows = context['follows'] as FollowUp | undefined;
  return typeof follows?.task === 'string' ? follows : undefined;
}
