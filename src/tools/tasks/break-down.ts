/**
 * Breaks a task into parts for others. The parts run as far apart as their dependencies let them; when all have ended, their outcomes are
 * the result of this call, and the answer is made from them. What is being done already is not done again.
 */
import { childId } from '../../domain/task/id.js';
import type { Part } from '../../domain/task/piece.js';
import { nearest } from '../core/nearest.js';
import type { Tool } from '../core/tool.js';

export const breakDown: Tool = {
  name: 'break_down',
  kind: 'ask',
  description:
    'Breaks your task into parts and waits for all of them. Each part is a task of its own, offered to whoever is fit for it; parts that depend on none run at the same time. Describe each part so that it is complete in itself. Parts that repeat work already asked for are dropped and you are told. Make the answer from what comes back.',
  parameters: {
    type: 'object',
    properties: {
      parts: {
        type: 'array',
        description: 'At least two',
        items: {
          type: 'object',
          properties: {
            key: { type: 'string', description: 'A short name, unique among the parts' },
            description: { type: 'string', description: 'What shall be done, complete in itself' },
            type: { type: 'string', description: 'What kind of work it is' },
            agent: { type: 'string', description: 'Who shall do it; leave out to let the best agent be found' },
            requires: { type: 'array', items: { type: 'string' }, description: 'Capabilities that are needed' },
            depends_on: {
              type: 'array',
              items: { type: 'string' },
              description: 'Keys of parts that must be done first',
            },
            new: { type: 'boolean', description: 'True if it needs a capability that no agent has yet' },
          },
          required: ['key', 'description'],
          additionalProperties: false,
        },
      },
    },
    required: ['parts'],
    additionalProperties: false,
  },
  async run(args, context) {
    const parts = (args['parts'] as Record<string, unknown>[]).map(asPart);
    for (const { key, to } of parts) {
      if (to === undefined || (context.agents.has(to) && to !== context.agent.name)) continue;
      if (to === context.agent.name)
        return { kind: 'problem', code: 'not_allowed', message: `${key} is for yourself; name another agent, or none` };
      const near = nearest(to, [...context.agents.keys()], 1)[0];
      const message = `${key} is for ${JSON.stringify(to)}, and there is no such agent${near ? `; did you mean ${near}?` : ''}`;
      return { kind: 'problem', code: 'unknown_agent', message };
    }
    const broken = await context.breakDown(parts);
    if ('code' in broken) return { kind: 'problem', code: broken.code, message: broken.message };
    const id = childId(context.task.id, `call-${context.callId}`);
    const description = `Parts of: ${context.task.description}`;
    return {
      kind: 'ask',
      child: { id, role: 'breakdown', to: context.agent.name, description, context: { breakdown: broken } },
    };
  },
};

function asPart(given: Record<string, unknown>): Part {
  const { type, agent } = given as { type?: string; agent?: string };
  return {
    key: given['key'] as string,
    description: given['description'] as string,
    ...(type ? { type } : {}),
    ...(agent ? { to: agent } : {}),
    requirements: (given['requires'] as string[] | undefined) ?? [],
    dependsOn: (given['depends_on'] as string[] | undefined) ?? [],
    isNew: given['new'] === true,
  };
}

/** The word of a model on which doubtful parts are work that is done already. */
export const nameDuplicates: Tool = {
  name: 'name_duplicates',
  kind: 'pure',
  description: 'Says which parts are essentially the same work as the task beside them.',
  parameters: {
    type: 'object',
    properties: {
      duplicates: { type: 'array', items: { type: 'string' }, description: 'Keys of parts; may be empty' },
    },
    required: ['duplicates'],
    additionalProperties: false,
  },
  run: (args) => ({ kind: 'final', text: JSON.stringify(args['duplicates']) }),
};
