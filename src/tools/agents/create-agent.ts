/** Writes the file of a new agent. Nothing exists before a human has read it and agreed. */
import { isSafeId } from '../../domain/task/id.js';
import { defineTool, text, toolProblem } from '../core/define-tool.js';

export const createAgent = defineTool({
  name: 'create_agent',
  kind: 'effect',
  description:
    'Proposes a new agent: a Markdown file with frontmatter (description, tools, capabilities, …) and the system prompt below it. A human reads it first. Existing agents cannot be changed this way.',
  args: {
    name: text('Name of the agent: letters, digits, _ and -'),
    content: text('The whole file: frontmatter between --- lines, then the prompt'),
  },
  async run({ name, content }, context) {
    const badName = badAgentName(name);
    if (badName !== undefined) return toolProblem('bad_name', badName);
    const wrong = await context.createAgent(name, content);
    if (wrong) return toolProblem(wrong.code, wrong.message);
    return { kind: 'text', text: `the agent ${name} exists now (agents/${name}.md)` };
  },
});

export function badAgentName(name: string): string | undefined {
  if (isSafeId(name) && !name.includes('.')) return undefined;
  return `${JSON.stringify(name)} cannot be the name of an agent; use letters, digits, _ and -`;
}
