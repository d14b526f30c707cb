/** Makes a task for somebody else without waiting for it: its outcome comes back to this conversation as a message. */
import { childId } from '../../domain/task/id.js';
import { nearest } from '../core/nearest.js';
import type { Tool } from '../core/tool.js';

export const createTask: Tool = {
  name: 'create_task',
  kind: 'ask',
  description:
    'Makes a task for another agent and goes on. When it has ended, its outcome comes back to you as a message; until then your own task stays open. Say everything the agent needs: it does not see this conversation.',
  parameters: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Who shall do it; leave out to let the best agent be found' },
      description: { type: 'string', description: 'What shall be done, complete in itself' },
      depends_on: {
        type: 'array',
        items: { type: 'string' },
        description: 'Ids of tasks that must be completed first',
      },
      requires: { type: 'array', items: { type: 'string' }, description: 'Capabilities that the agent must have' },
    },
    required: ['description'],
    additionalProperties: false,
  },
  run(args, context) {
    const to = args['agent'] as string | undefined;
    const description = (args['description'] as string).trim();
    if (description === '')
      return { kind: 'problem', code: 'bad_field', message: 'description is empty; say what shall be done' };
    if (to !== undefined && !context.agents.has(to)) {
      const near = nearest(to, [...context.agents.keys()], 1)[0];
      const all = [...context.agents.keys()].sort().join(', ');
      return {
        kind: 'problem',
        code: 'unknown_agent',
        message: `there is no agent ${JSON.stringify(to)}${near ? `, did you mean ${near}?` : ''}; the agents are: ${all}`,
      };
    }
    const id = childId(context.task.id, `call-${context.callId}`);
    return {
      kind: 'spawn',
      child: {
        id,
        role: 'task',
        ...(to === undefined ? {} : { to }),
        description,
        ...(args['depends_on'] ? { dependencies: args['depends_on'] as string[] } : {}),
        ...(args['requires'] ? { requirements: args['requires'] as string[] } : {}),
      },
      text: JSON.stringify({
        task: id,
        agent: to ?? null,
        state: 'pending',
        note: 'its outcome will come back to you as a message',
      }),
    };
  },
};
