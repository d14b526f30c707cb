/** A router's only tool: it names who answers the request, and that ends its turn. */
import { printRoute } from '../../domain/task/route.js';
import type { Tool } from '../core/tool.js';

export const routeTo: Tool = {
  name: 'route_to',
  kind: 'pure',
  description:
    'Chooses the agent that shall answer this request. The agent gets the original request, and your message if you give one.',
  parameters: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Who shall answer' },
      reason: { type: 'string', description: 'Why this one' },
      message: { type: 'string', description: 'A word for that agent, if it needs one' },
    },
    required: ['agent'],
    additionalProperties: false,
  },
  run(args, context) {
    const choices = context.agent.router?.destinations ?? [];
    const agent = args['agent'] as string;
    if (!choices.includes(agent)) {
      return {
        kind: 'problem',
        code: 'unknown_agent',
        message: `${JSON.stringify(agent)} is not a choice; choose one of ${choices.join(', ')}`,
      };
    }
    return {
      kind: 'final',
      text: printRoute({
        agent,
        reason: args['reason'] as string | undefined,
        message: args['message'] as string | undefined,
      }),
    };
  },
};
