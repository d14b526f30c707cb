/** Adds a message to another agent's conversation, with its sender and never as an instruction. */
import { defineTool, text, toolProblem } from '../core/define-tool.js';

export const sendMessage = defineTool({
  name: 'send_message',
  kind: 'ask',
  description:
    'Adds a message to an open conversation of another agent: the one with the session id that you give, or the newest one of the agent that you name. The agent reads it before its next turn. It starts no new work.',
  args: { to: text('Session id, or name of an agent'), message: text('What to say') },
  run({ to, message }, context) {
    const open = context.sessions().filter(({ state, task }) => state !== 'ended' && task !== context.task.id);
    const target = open.find(({ session }) => session === to) ?? open.findLast(({ agent }) => agent === to);
    if (target !== undefined)
      return { kind: 'tell', task: target.task, message, text: `sent to ${target.agent} in ${target.session}` };
    const list = open.map(({ session, agent }) => `${session} (${agent})`).join(', ') || 'none';
    const wrong = `${to} has no open conversation; open ones are: ${list}. For new work use create_task`;
    return toolProblem('not_found', wrong);
  },
});
