/** Says something to another agent's open conversation. The engine stamps who said it; it is never an instruction of the system. */
import type { Tool } from '../core/tool.js';

export const sendMessage: Tool = {
  name: 'send_message',
  kind: 'ask',
  description:
    'Adds a message to the open conversation of another agent, named by its session or by the agent (then its newest open one). It is heard before the next turn there. For new work use create_task.',
  parameters: {
    type: 'object',
    properties: {
      to: { type: 'string', description: 'Session id, or name of an agent' },
      message: { type: 'string', description: 'What to say' },
    },
    required: ['to', 'message'],
    additionalProperties: false,
  },
  run(args, context) {
    const to = args['to'] as string;
    const open = context.sessions().filter((one) => one.state !== 'ended' && one.task !== context.task.id);
    const target = open.find((one) => one.session === to) ?? open.filter((one) => one.agent === to).at(-1);
    if (target === undefined) {
      const there = open.map((one) => `${one.session} (${one.agent})`).join(', ') || 'none';
      return {
        kind: 'problem',
        code: 'not_found',
        message: `${to} has no open conversation; open ones are: ${there}. For new work use create_task`,
      };
    }
    return {
      kind: 'tell',
      task: target.task,
      message: args['message'] as string,
      text: `told ${target.agent} in ${target.session}`,
    };
  },
};
