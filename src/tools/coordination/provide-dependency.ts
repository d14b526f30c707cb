/** Gives another agent all or part of what it needs, or says that it cannot. This ends the task. */
import { printProvided } from '../../domain/coordination/dependency.js';
import { roleFacts } from '../../domain/task/role.js';
import { defineTool, oneOf, optional, text, texts, toolProblem } from '../core/define-tool.js';

export const provideDependency = defineTool({
  name: 'provide_dependency',
  kind: 'pure',
  description:
    'Ends your task with what the other agent asked for: resolved with the data, partial if it is only a part of it, failed with the reason if you cannot give it; then another agent is asked.',
  args: {
    status: oneOf(['resolved', 'partial', 'failed'], 'How much of the request you can provide'),
    data: optional(text('What was asked for, self-contained; if failed, why')),
    next_steps: optional(texts('What the other agent should do next')),
  },
  run({ status, data: answer, next_steps: nextSteps = [] }, { task }) {
    if (!roleFacts(task.role).isProvision)
      return toolProblem('not_allowed', 'no agent asked you to provide anything here; answer in words');
    const data = answer?.trim() || undefined;
    // An approval needs no text; every other answer does.
    if (data === undefined && !(task.type === 'approval' && status === 'resolved'))
      return toolProblem('bad_field', `data is empty; say ${status === 'failed' ? 'why' : 'what was asked for'}`);
    return { kind: 'final', text: printProvided({ status, data, nextSteps }) };
  },
});
