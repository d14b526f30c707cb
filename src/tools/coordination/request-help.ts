/** Asks for help of whoever has nothing else to do: work, a review, or a word of knowledge. */
import { HELP_KINDS, HELP_ROLE, type Help, type HelpKind } from '../../domain/coordination/help.js';
import { childId } from '../../domain/task/id.js';
import { ENGINE } from '../../domain/task/task.js';
import type { Tool } from '../core/tool.js';

const MOST_CONTEXT = 16_000;
const MOST_CAPABILITIES = 50;

export const requestHelp: Tool = {
  name: 'request_help',
  kind: 'ask',
  description:
    'Asks an agent that is free for help and waits for its answer: work, a review of what you did, or an answer to a question. It must have all the capabilities, and its field must have to do with what you say. If nobody helps in time, the coordinator or the human is asked. The answer is {status, provider, data, next_steps}.',
  parameters: {
    type: 'object',
    properties: {
      context: {
        type: 'string',
        description: 'What it is about and what you need, complete in itself: whoever helps sees nothing else',
      },
      capabilities: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the agent must be capable of; all of it',
      },
      kind: { type: 'string', enum: [...HELP_KINDS], description: 'work if left out' },
      estimate: { type: 'string', description: 'How long you think it takes' },
      deadline: {
        type: 'string',
        description: 'When somebody else is asked: a time (2030-01-31T12:00:00Z) or how long (10m, 2h)',
      },
    },
    required: ['context', 'capabilities'],
    additionalProperties: false,
  },
  run(args, { task, callId }) {
    const text = (key: string): string | undefined => (args[key] as string | undefined)?.trim() || undefined;
    const context = text('context');
    if (context === undefined)
      return { kind: 'problem', code: 'bad_field', message: 'context is empty; say what you need help with' };
    if (context.length > MOST_CONTEXT)
      return {
        kind: 'problem',
        code: 'over_limit',
        message: `context has ${context.length} characters, at most ${MOST_CONTEXT}; put the long part into a file and name it`,
      };
    const capabilities = (args['capabilities'] as string[]).map((word) => word.trim()).filter((word) => word !== '');
    if (capabilities.length > MOST_CAPABILITIES)
      return {
        kind: 'problem',
        code: 'over_limit',
        message: `capabilities has ${capabilities.length} words, at most ${MOST_CAPABILITIES}`,
      };
    const estimate = text('estimate');
    const deadline = text('deadline');
    const help: Help = {
      kind: (args['kind'] as HelpKind | undefined) ?? 'work',
      context,
      capabilities,
      ...(estimate ? { estimate } : {}),
      ...(deadline ? { deadline } : {}),
    };
    return {
      kind: 'ask',
      child: {
        id: childId(task.id, `call-${callId}`),
        role: HELP_ROLE,
        to: ENGINE,
        ...(task.to === undefined ? {} : { from: task.to }),
        type: help.kind,
        description: context,
        context: { help },
      },
    };
  },
};
