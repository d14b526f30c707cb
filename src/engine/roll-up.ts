/** What a task has cost with everything under it, read off its conversation and the records of its children. */
import { childId } from '../domain/id.js';
import type { Message } from '../domain/session.js';
import type { Task } from '../domain/task.js';
import { addUsage, type Usage } from '../domain/usage.js';
import type { Conversation } from './conversation.js';
import type { Parts } from './parts.js';

export async function usageWithChildren(parts: Parts, task: Task, talk: Conversation): Promise<Usage> {
  return addChildren(parts, talk.usage(), askedBy(parts, task, talk.mine()));
}

export async function addChildren(parts: Parts, own: Usage, ids: Iterable<string>): Promise<Usage> {
  let sum = own;
  for (const id of ids) {
    const child = await parts.store.read(id);
    if (child?.task.usage) sum = addUsage(sum, child.task.usage);
  }
  return sum;
}

function* askedBy(parts: Parts, task: Task, messages: readonly Message[]): Iterable<string> {
  for (const { toolCalls } of messages) {
    for (const call of toolCalls ?? []) {
      if (parts.tools.get(call.name)?.kind === 'ask') yield childId(task.id, `call-${call.id}`);
    }
  }
}
