/** Creates a task for another agent without waiting for it. Its outcome arrives as a message. */
import { childId } from '../../domain/task/id.js';
import { defineTool, optional, text, texts, toolProblem } from '../core/define-tool.js';
import { unknownAgent } from '../core/unknown-agent.js';

export const createTask = defineTool({
  name: 'create_task',
  kind: 'ask',
  description:
    'Creates a task for another agent and does not wait for it. When that task ends, you get its outcome as a message; your own task stays open until then. Include everything the agent needs: it does not see this conversation.',
  args: {
    agent: optional(text('The agent that does it; if left out, agents bid for it')),
    description: text('What to do, self-contained'),
    depends_on: optional(texts('Ids of tasks that must be completed first')),
    requires: optional(texts('Capabilities that the agent must have')),
  },
  run({ agent, description, depends_on: dependencies, requires: requirements }, context) {
    if (description.trim() === '') return toolProblem('bad_field', 'description is empty; say what to do');
    if (agent !== undefined && !context.agents.has(agent)) return unknownAgent(agent, context.agents.keys());
    const id = childId(context.task.id, `call-${context.callId}`);
    const note = 'you will get its outcome as a message';
    return {
      kind: 'spawn',
      child: { id, role: 'task', to: agent, description: description.trim(), dependencies, requirements },
      text: JSON.stringify({ task: id, agent: agent ?? null, state: 'pending', note }),
    };
  },
});
