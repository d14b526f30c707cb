/** Gives a task under the same root to another agent, before any agent has started it. */
import { defineTool, text, toolProblem } from '../core/define-tool.js';
import { unknownAgent } from '../core/unknown-agent.js';

export const reassignTask = defineTool({
  name: 'reassign_task',
  kind: 'ask',
  description:
    'Gives a task that has not started to another agent, for example because its agent is busy. It must belong to the same goal as your own task. query_tasks shows the open tasks.',
  args: { id: text('Id of the task'), agent: text('Name of the agent that takes it') },
  run({ id, agent }, { agents, task }) {
    if (!agents.has(agent)) return unknownAgent(agent, agents.keys());
    if (id === task.id) return toolProblem('not_allowed', 'your own task has started; ask for help instead');
    return { kind: 'assign', task: id, to: agent, text: `${id} goes to ${agent}, unless somebody starts it first` };
  },
});
