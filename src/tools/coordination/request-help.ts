/** Asks an idle agent for help: work, a review, or an answer. */
import { HELP_KINDS, HELP_ROLE, type Help } from '../../domain/coordination/help.js';
import { childId } from '../../domain/task/id.js';
import { ENGINE } from '../../domain/task/task.js';
import { defineTool, oneOf, optional, text, texts, toolProblem } from '../core/define-tool.js';

const MAX_CONTEXT_CHARS = 16_000;
const MAX_CAPABILITIES = 50;

export const requestHelp = defineTool({
  name: 'request_help',
  kind: 'ask',
  description:
    'Asks an agent that is free for help and waits for its answer: work, a review of what you did, or an answer to a question. It must have all the capabilities, and its expertise must relate to your request. If no agent helps in time, the coordinator or the human is asked. The answer is {status, provider, data, next_steps}.',
  args: {
    context: text('What it is about and what you need, self-contained: the helper sees nothing else'),
    capabilities: texts('Capabilities that the agent must have, all of them'),
    kind: optional(oneOf(HELP_KINDS, 'work if left out')),
    estimate: optional(text('How long you think it takes')),
    deadline: optional(
      text('When to ask the coordinator or the human instead: a time (2030-01-31T12:00:00Z) or a duration (10m, 2h)'),
    ),
  },
  run({ kind = 'work', ...args }, { task, callId }) {
    const context = args.context.trim();
    const { length } = context;
    if (length === 0) return toolProblem('bad_field', 'context is empty; say what you need help with');
    if (length > MAX_CONTEXT_CHARS) {
      const limit = `context has ${length} characters; the limit is ${MAX_CONTEXT_CHARS}`;
      return toolProblem('over_limit', `${limit}; put the long part into a file and name it`);
    }
    const capabilities = args.capabilities.map((word) => word.trim()).filter((word) => word !== '');
    if (capabilities.length > MAX_CAPABILITIES)
      return toolProblem(
        'over_limit',
        `capabilities has ${capabilities.length} words; the limit is ${MAX_CAPABILITIES}`,
      );
    const estimate = args.estimate?.trim() || undefined;
    const deadline = args.deadline?.trim() || undefined;
    const help: Help = { kind, context, capabilities, estimate, deadline };
    const id = childId(task.id, `call-${callId}`);
    return {
      kind: 'ask',
      child: { id, role: HELP_ROLE, to: ENGINE, from: task.to, type: kind, description: context, context: { help } },
    };
  },
});
