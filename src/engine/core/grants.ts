/** Which tools an agent may call in a task. */
import { isChoosing } from '../../rules/patterns/router.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { channelsWritten, isNamedWriter } from '../../rules/coordination/channels.js';

/** The tools of its file, plus those that its role or a channel it may write to requires. */
export function grantedNames(
  agent: Agent,
  { role }: Pick<Task, 'role'>,
  channels: Config['channels'] = {},
): readonly string[] {
  if (isChoosing({ role }, agent)) return ['route_to'];
  const { onlyTools, addedTools, requiredTool, isRound } = roleFacts(role);
  if (onlyTools !== undefined) return onlyTools;
  if (requiredTool !== undefined) return [requiredTool];
  // Outside a team a message needs a channel.
  const mayPost = isRound || channelsWritten(agent.name, channels).length > 0;
  const own = mayPost ? agent.tools : agent.tools.filter((tool) => tool !== 'broadcast');
  const tools = own.includes('request_dependency') ? [...own, 'give_back'] : own;
  if (addedTools !== undefined) return [...tools, ...addedTools];
  return isNamedWriter(agent.name, channels) ? [...tools, 'broadcast'] : tools;
}
