/** A router's only tool: names the agent that answers the request, and ends the router's turn. */
import { printRoute } from '../../domain/task/route.js';
import { defineTool, optional, text, toolProblem } from '../core/define-tool.js';

export const routeTo = defineTool({
  name: 'route_to',
  kind: 'pure',
  description:
    'Chooses the agent that answers this request. Do not answer it yourself. The agent gets the original request, and your message if you give one.',
  args: {
    reason: optional(text('Why this one fits best')),
    agent: text('The agent that answers'),
    message: optional(text('A note for that agent, if it needs one')),
  },
  run({ agent, reason, message }, context) {
    const choices = context.agent.router?.destinations ?? [];
    if (!choices.includes(agent)) {
      const wrong = `${JSON.stringify(agent)} is not a choice; choose one of ${choices.join(', ')}`;
      return toolProblem('unknown_agent', wrong);
    }
    return { kind: 'final', text: printRoute({ agent, reason, message }) };
  },
});
