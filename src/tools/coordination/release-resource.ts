/** Gives a resource back before the task ends, so that another task can have it. */
import { isSafeId } from '../../domain/task/id.js';
import { defineTool, text, toolProblem } from '../core/define-tool.js';

export const giveBack = defineTool({
  name: 'give_back',
  kind: 'pure',
  description:
    'Gives back a resource that you got with request_dependency, as soon as you are done with it: others wait for it. Without this you hold it until your task ends. Request it again before you use it again.',
  args: { resource: text('Its name') },
  run(args) {
    const resource = args.resource.trim();
    if (!isSafeId(resource)) return toolProblem('bad_name', 'resource must be a name of letters, digits, _, - and .');
    return { kind: 'give_back', resource, text: `${resource} is released; request it again before you use it again` };
  },
});
