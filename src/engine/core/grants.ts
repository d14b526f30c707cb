/** Which tools an agent may call in a task. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { PROVIDE_ROLE } from '../../domain/coordination/dependency.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { isNamedWriter } from '../../rules/coordination/channels.js';

/** The tools of its file, plus those that its role or a channel it may write to requires. */
export function grantedNames(
  agent: Agent,
  { role }: Pick<Task, 'role'>,
  channels: Config['channels'] = {},
): readonly string[] {
  if (role === 'work' && agent.router) return ['route_to'];
  const tools = agent.tools.includes('request_dependency') ? [...agent.tools, 'give_back'] : agent.tools;
  if (role === 'member' || role === 'seat') return [...tools, 'broadcast', 'vote_conclude'];
  if (role === 'coordinator') return ['broadcast', 'conclude_team'];
  const owed = roleFacts(role).owes;
  if (owed !== undefined) return [owed];
  if (role === PROVIDE_ROLE) return [...tools, 'provide_dependency'];
  return isNamedWriter(agent.name, channels) ? [...tools, 'broadcast'] : tools;
}
