/** The name of a task's conversation. */
import type { Agent } from '../agent/agent.js';
import { shortId } from '../task/id.js';
import type { Task } from '../task/task.js';

/** An agent with a shared conversation has one for all its tasks; they take turns in it. */
export function sessionId(
  task: Pick<Task, 'id' | 'session'>,
  agent: Pick<Agent, 'name'> & Partial<Pick<Agent, 'session'>>,
): string {
  return task.session ?? (agent.session === 'shared' ? agent.name : shortId(`${agent.name}-${task.id}`));
}
