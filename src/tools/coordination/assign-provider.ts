/** The coordinator's only tool when it is asked who shall provide what another agent needs: it names the agent, and that ends its turn. */
import { printAssignment } from '../../domain/coordination/dependency.js';
import { nearest } from '../core/nearest.js';
import type { Tool } from '../core/tool.js';

export const assignProvider: Tool = {
  name: 'assign_provider',
  kind: 'pure',
  description: 'Says which agent shall provide what the other one needs.',
  parameters: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Who shall provide it' },
      reason: { type: 'string', description: 'Why this one' },
    },
    required: ['agent'],
    additionalProperties: false,
  },
  run(args, { agents, task }) {
    const agent = args['agent'] as string;
    if (agents.has(agent) && agent !== task.from) {
      const reason = (args['reason'] as string | undefined)?.trim();
      return { kind: 'final', text: printAssignment({ agent, ...(reason ? { reason } : {}) }) };
    }
    if (agent === task.from)
      return { kind: 'problem', code: 'not_allowed', message: `${agent} is the one that needs it; name another agent` };
    const names = [...agents.keys()].filter((name) => name !== task.from).sort();
    const near = nearest(agent, names, 1)[0];
    const message = `there is no agent ${JSON.stringify(agent)}${near ? `, did you mean ${near}?` : ''}; the agents are: ${names.join(', ')}`;
    return { kind: 'problem', code: 'unknown_agent', message };
  },
};
