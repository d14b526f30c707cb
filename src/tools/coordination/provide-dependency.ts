/** Gives another agent what it needs, in whole or in part, or says that it cannot be given; that ends the task. */
import { roleFacts } from '../../domain/task/role.js';
import { printProvided, type Provided } from '../../domain/coordination/dependency.js';
import type { Tool } from '../core/tool.js';

export const provideDependency: Tool = {
  name: 'provide_dependency',
  kind: 'pure',
  description:
    'Ends your task with what the other agent asked for: resolved with the data, partial if it is only a part of it, failed with the reason if you cannot give it. Somebody else is then asked.',
  parameters: {
    type: 'object',
    properties: {
      status: { type: 'string', enum: ['resolved', 'partial', 'failed'], description: 'How much of it you give' },
      data: { type: 'string', description: 'What was asked for, complete in itself; if failed, why' },
      next_steps: { type: 'array', items: { type: 'string' }, description: 'What the other agent should do next' },
    },
    required: ['status'],
    additionalProperties: false,
  },
  run(args, { task }) {
    if (!roleFacts(task.role).isProvision)
      return {
        kind: 'problem',
        code: 'not_allowed',
        message: 'nobody asked you to provide anything here; answer in words',
      };
    const status = args['status'] as Provided['status'];
    const data = (args['data'] as string | undefined)?.trim() ?? '';
    // A yes to an approval needs no words; everything else does.
    if (data === '' && !(task.type === 'approval' && status === 'resolved'))
      return {
        kind: 'problem',
        code: 'bad_field',
        message: `data is empty; say ${status === 'failed' ? 'why' : 'what was asked for'}`,
      };
    const nextSteps = (args['next_steps'] ?? []) as string[];
    return { kind: 'final', text: printProvided({ status, ...(data ? { data } : {}), nextSteps }) };
  },
};
