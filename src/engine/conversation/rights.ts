/**
 * The present rights of an agent: those that both its pinned definition and its present file allow.
 * So a removed tool, or a new approval rule, takes effect at once, and an added tool waits for the
 * next conversation.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

export function presentAgent(context: EngineContext, pinned: Agent, { role }: Pick<Task, 'role'>): Agent {
  // A draft on trial runs under its maker's name and has no file.
  if (roleFacts(role).isTrial) return pinned;
  const present = context.agents.all().get(pinned.name);
  return present === undefined || present.definition === pinned.definition ? pinned : narrowed(pinned, present);
}

function narrowed(pinned: Agent, present: Agent): Agent {
  const approve = { ...pinned.approve };
  for (const [tool, verdict] of Object.entries(present.approve)) if (approve[tool] !== 'deny') approve[tool] = verdict;
  return {
    ...pinned,
    tools: pinned.tools.filter((tool) => present.tools.includes(tool)),
    agents: delegates(pinned, present),
    approve,
  };
}

/** An empty list means everyone, so an empty intersection names only the agent itself. */
function delegates({ name, agents }: Agent, { agents: now }: Agent): string[] {
  if (agents.length === 0 || now.length === 0) return agents.length === 0 ? now : agents;
  const both = agents.filter((agent) => now.includes(agent));
  return both.length === 0 ? [name] : both;
}
