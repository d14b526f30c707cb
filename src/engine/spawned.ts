/**
 * Tasks that a conversation made without waiting for them. Their outcomes come back as messages, each once; while any of
 * them is open, the task that made them is not over, whatever it last said.
 */
import type { Agent } from '../domain/agent.js';
import { childId } from '../domain/id.js';
import type { Message } from '../domain/session.js';
import { isEnded, type Placed, type Task } from '../domain/task.js';
import { errorText, fence } from '../rules/gather.js';
import type { Parts } from './parts.js';
import { quoted } from './quoted.js';

export interface Spawned {
  /** Outcomes that the conversation has not heard yet. */
  news: Message[];
  open: string[];
}

const NONE: Spawned = { news: [], open: [] };

export async function spawnedBy(
  parts: Parts,
  task: Task,
  agent: Agent,
  messages: readonly Message[],
): Promise<Spawned> {
  if (!agent.tools.includes('create_task')) return NONE;
  const ids = messages.flatMap(({ toolCalls }) =>
    (toolCalls ?? []).flatMap((call) => (call.name === 'create_task' ? [childId(task.id, `call-${call.id}`)] : [])),
  );
  if (ids.length === 0) return NONE;
  const heard = new Set(messages.map((message) => message.from));
  const found: Spawned = { news: [], open: [] };
  for (const id of ids) {
    if (heard.has(id)) continue;
    const child = parts.store.isOpen(id) ? undefined : await parts.store.read(id);
    if (child !== undefined && isEnded(child.state)) found.news.push(await outcome(parts, task, child));
    else if (child !== undefined || parts.store.isOpen(id)) found.open.push(id);
  }
  return found;
}

async function outcome(parts: Parts, asker: Task, { task, state }: Placed): Promise<Message> {
  const who = task.to ?? 'nobody';
  const text = await quoted(parts, state === 'completed' ? (task.result ?? '') : errorText(task.error));
  return {
    role: 'user',
    content: `The task ${task.id} that you gave to ${who} is ${state}.\n\n${fence(state === 'completed' ? 'result' : 'failure', who, text, asker.id)}`,
    from: task.id,
    timestamp: parts.clock.now().toISOString(),
  };
}
