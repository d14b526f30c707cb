/** Gives a resource back before the task ends, so that whoever waits for it goes on. Whoever may ask for resources is granted it. */
import { isSafeId } from '../../domain/task/id.js';
import type { Tool } from '../core/tool.js';

export const giveBack: Tool = {
  name: 'give_back',
  kind: 'pure',
  description:
    'Gives back a resource that you got with request_dependency, as soon as you are done with it: others wait for it. Without this you hold it until your task ends. Ask again before you use it again.',
  parameters: {
    type: 'object',
    properties: { resource: { type: 'string', description: 'Its name' } },
    required: ['resource'],
    additionalProperties: false,
  },
  run(args) {
    const resource = (args['resource'] as string).trim();
    if (!isSafeId(resource)) return { kind: 'problem', code: 'bad_name', message: 'no resource can have this name' };
    return { kind: 'give_back', resource, text: `${resource} is given back; ask again before you use it again` };
  },
};
