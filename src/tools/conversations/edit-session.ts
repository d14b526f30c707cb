/** Replaces a conversation, whole. A strong tool for planners whose others are stuck: the human sees the change first. */
import type { Tool } from '../core/tool.js';

export const editSession: Tool = {
  name: 'edit_session',
  kind: 'effect',
  description:
    'Replaces the file of a conversation with a new text, as a person with an editor would. The human is asked first and sees the difference. Read it with read_session before, and change as little as possible.',
  parameters: {
    type: 'object',
    properties: {
      session: { type: 'string', description: 'Session id' },
      content: { type: 'string', description: 'The whole new text of the file, YAML as read_session shows it' },
    },
    required: ['session', 'content'],
    additionalProperties: false,
  },
  async run(args, context) {
    const wrong = await context.replaceSession(args['session'] as string, args['content'] as string);
    if (wrong) return { kind: 'problem', code: wrong.code, message: wrong.message };
    return {
      kind: 'text',
      text: `replaced the conversation ${args['session'] as string}; its agent goes on from what it says now`,
    };
  },
};
