/** `guild prompt`: what a model would get, word for word. */
import { promptView, type PromptView } from '../../app/readers/prompt/prompt-view.js';
import { problemError } from '../../domain/problem.js';
import { nearestHint } from '../../domain/nearest.js';
import { ROLE_NAMES, roleFacts, type Role } from '../../domain/task/role.js';
import { counted, EXIT, text, type Command } from '../args/command.js';
import type { Terminal } from '../render/terminal.js';

/** The roles that change an agent's instructions or tools. */
const ROLES = ROLE_NAMES.filter((role) => {
  const { prompt, requiredTool, onlyTools, addedTools, answersInText } = roleFacts(role);
  return answersInText || [prompt, requiredTool, onlyTools, addedTools].some((fact) => fact !== undefined);
});

export const command: Command = {
  usage: 'prompt <agent> [task]',
  about: `
Prints exactly what a model would get for the next call: the system text, the tools with their schemas, and the messages,
each with an estimate of its tokens. No model is called.

[task] is the text of a request, or the id of a task. If the task has started, its conversation is shown.

An agent has other instructions and tools when it advises, bids, reviews or speaks in a team; --role shows those. With
--role the request is the text that you give. In a real run the program writes it.`,
  options: {
    role: { type: 'string', value: 'ROLE', about: `one of ${ROLES.join(', ')}` },
  },
  async run({ words, values, root, terminal, json, io }) {
    const [agent, ...rest] = words;
    if (agent === undefined)
      throw problemError('bad_usage', 'guild prompt needs an agent', { hint: 'guild agent list shows them' });
    const role = knownRole(text(values, 'role'));
    const view = await promptView(root, agent, { about: rest.join(' ') || undefined, role, env: io.env });
    if (json) terminal.json(view);
    else print(view, terminal);
    if (view.held !== undefined) terminal.say(`${agent} does not work yet: ${view.held}`);
    return EXIT.done;
  },
};

function knownRole(name: string | undefined): Role | undefined {
  if (name === undefined || ROLES.includes(name)) return name;
  const hint = nearestHint(name, ROLES, `the roles are: ${ROLES.join(', ')}`);
  throw problemError('bad_usage', `unknown role "${name}"`, { hint });
}

function print({ system, tools, messages, tokens, model, session }: PromptView, terminal: Terminal): void {
  const head = (text: string, count: number): void =>
    terminal.out(terminal.bold(`=== ${text}, about ${count.toLocaleString('en')} tokens`));
  head('system', tokens.system);
  terminal.out(`${system}\n`);
  head(counted(tools.length, 'tool'), tokens.tools);
  for (const { name, description, parameters } of tools) {
    terminal.out(`${terminal.bold(name)}: ${description}`);
    terminal.out(`${terminal.dim(JSON.stringify(parameters))}\n`);
  }
  head(counted(messages.length, 'message'), tokens.messages);
  for (const { role, from, content, toolCalls = [] } of messages) {
    terminal.out(terminal.bold(`--- ${role}${from === undefined ? '' : ` (${from})`}`));
    if (content !== '') terminal.out(content);
    for (const call of toolCalls) terminal.out(`${call.name} ${JSON.stringify(call.arguments)}`);
  }
  const total = tokens.system + tokens.tools + tokens.messages;
  const where = session === undefined ? '' : `, from sessions/${session}.session.yaml`;
  terminal.say(`about ${total.toLocaleString('en')} tokens for ${model ?? 'a model that cannot be resolved'}${where}`);
}
