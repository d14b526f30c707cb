/**
 * The rights that an agent has in a conversation now: only what both the conversation and the
 * agent's current file allow. So a tool that is removed from the file, or a new approval rule,
 * takes effect at once. A tool that is added can be used from the message that announces it (see
 * `news`).
 */
import type { Agent } from '../../domain/agent/agent.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';
import type { Conversation } from './conversation.js';

export function presentAgent(
  context: EngineContext,
  { agent: pinned, head }: Pick<Conversation, 'agent' | 'head'>,
  task: Pick<Task, 'role'>,
): Agent {
  const present = presentFile(context, pinned, task);
  if (present === pinned) return pinned;
  const known = new Set([...pinned.tools, ...head().tools.map(({ name }) => name)]);
  const approve = { ...pinned.approve };
  for (const [tool, verdict] of Object.entries(present.approve)) if (approve[tool] !== 'deny') approve[tool] = verdict;
  return {
    ...pinned,
    tools: present.tools.filter((tool) => known.has(tool)),
    agents: delegates(pinned, present),
    approve,
  };
}

/** The agent as its file defines it now, or the pinned version if it has no file. */
export function presentFile({ agents }: EngineContext, pinned: Agent, { role }: Pick<Task, 'role'>): Agent {
  // A draft on trial runs under its maker's name and has no file.
  return (roleFacts(role).isTrial ? undefined : agents.all().get(pinned.name)) ?? pinned;
}

/** An empty list means everyone, so an empty intersection names only the agent itself. */
function delegates({ name, agents }: Agent, { agents: now }: Agent): string[] {
  if (agents.length === 0 || now.length === 0) return agents.length === 0 ? now : agents;
  const both = agents.filter((agent) => now.includes(agent));
  return both.length === 0 ? [name] : both;
}
