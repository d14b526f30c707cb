/** Replaces a conversation, for planners whose agents are stuck. A human approves the change. */
import { defineTool, text, toolProblem } from '../core/define-tool.js';

export const editSession = defineTool({
  name: 'edit_session',
  kind: 'effect',
  description:
    'Replaces the file of a conversation with a new text, as a person with an editor would. The human is asked first and sees the difference. Read it with read_session first, and change as little as possible.',
  args: {
    session: text('Session id'),
    content: text('The whole new text of the file, YAML as read_session shows it'),
  },
  async run({ session, content }, context) {
    const wrong = await context.replaceSession(session, content);
    if (wrong) return toolProblem(wrong.code, wrong.message);
    return { kind: 'text', text: `replaced the conversation ${session}; its agent continues from the new text` };
  },
});
