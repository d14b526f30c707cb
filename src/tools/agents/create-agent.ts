/** Writes the file of a new agent. Nothing of it is there before a human has read it and agreed. */
import { isSafeId } from '../../domain/task/id.js';
import type { Tool } from '../core/tool.js';

export const createAgent: Tool = {
  name: 'create_agent',
  kind: 'effect',
  description:
    'Proposes a new agent: a Markdown file with frontmatter (description, tools, capabilities, …) and the system prompt below it. A human reads it first. Existing agents cannot be changed this way.',
  parameters: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Name of the agent: letters, digits, _ and -' },
      content: { type: 'string', description: 'The whole file: frontmatter between --- lines, then the prompt' },
    },
    required: ['name', 'content'],
    additionalProperties: false,
  },
  async run(args, context) {
    const name = args['name'] as string;
    if (!isSafeId(name) || name.includes('.'))
      return {
        kind: 'problem',
        code: 'bad_name',
        message: `${JSON.stringify(name)} cannot be the name of an agent; use letters, digits, _ and -`,
      };
    const wrong = await context.createAgent(name, args['content'] as string);
    if (wrong) return { kind: 'problem', code: wrong.code, message: wrong.message };
    return { kind: 'text', text: `the agent ${name} is there now (agents/${name}.md)` };
  },
};
