/** The tools of team members: speak to all, and vote to end the discussion. */
import { NOTE_PRIORITIES } from '../../domain/coordination/note.js';
import { roleFacts } from '../../domain/task/role.js';
import { defineTool, oneOf, optional, text, toolProblem } from '../core/define-tool.js';

export const broadcast = defineTool({
  name: 'broadcast',
  kind: 'pure',
  description:
    'Sends a message to the members of your team, who get it in the next round, or to the readers of a channel.',
  args: {
    message: text('What the others should know'),
    channel: optional(text('A channel that guild.yaml names; needed outside a team')),
    priority: optional(oneOf(NOTE_PRIORITIES, 'The urgency of the message on that channel')),
  },
  run({ message, channel, priority }, { task }) {
    if (message.trim() === '') return toolProblem('bad_field', 'message is empty; say what the others should know');
    if (channel !== undefined) {
      const reply = `Posted on the channel ${channel}; its readers get it before their next turn.`;
      return { kind: 'note', channel, message, text: reply, priority };
    }
    if (roleFacts(task.role).isRound) return { kind: 'text', text: 'The others will get it in the next round.' };
    return toolProblem('bad_field', 'you are not in a team: name the channel with "channel"');
  },
});

export const voteConclude = defineTool({
  name: 'vote_conclude',
  kind: 'pure',
  description: 'Votes to end the discussion.',
  args: { reason: optional(text('Why nothing more needs to be discussed')) },
  run: () => ({ kind: 'text', text: 'Your vote is noted.' }),
});

export const concludeTeam = defineTool({
  name: 'conclude_team',
  kind: 'pure',
  description: "Ends the team's deliberation; you then give the final answer.",
  args: { reason: optional(text('Why there is enough to decide now')) },
  run: () => ({ kind: 'final', text: 'concluded' }),
});
