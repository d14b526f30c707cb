/** The coordinator's only tool when it chooses a provider. It ends the turn. */
import { printAssignment } from '../../domain/coordination/dependency.js';
import { defineTool, optional, text, toolProblem } from '../core/define-tool.js';
import { unknownAgent } from '../core/unknown-agent.js';

export const assignProvider = defineTool({
  name: 'assign_provider',
  kind: 'pure',
  description: 'Names the agent that provides what the asking agent needs.',
  args: { reason: optional(text('Why this one fits best')), agent: text('The agent that provides it') },
  run({ agent, reason }, { agents, task }) {
    if (agent === task.from) return toolProblem('not_allowed', `${agent} needs it itself; name another agent`);
    if (agents.has(agent))
      return { kind: 'final', text: printAssignment({ agent, reason: reason?.trim() || undefined }) };
    return unknownAgent(
      agent,
      [...agents.keys()].filter((name) => name !== task.from),
    );
  },
});
