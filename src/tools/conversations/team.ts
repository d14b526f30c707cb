/** What members of a team do: speak to all, and say when enough was said. What they say is kept in their conversation; the engine carries it. */
import { roleFacts } from '../../domain/task/role.js';
import { NOTE_PRIORITIES, type NotePriority } from '../../domain/coordination/note.js';
import type { Tool } from '../core/tool.js';

export const broadcast: Tool = {
  name: 'broadcast',
  kind: 'pure',
  description:
    'Says something to all who listen: in a team to its members, who hear it in the next round; with a channel to the readers of that channel.',
  parameters: {
    type: 'object',
    properties: {
      message: { type: 'string', description: 'What the others should know' },
      channel: { type: 'string', description: 'A channel that guild.yaml names; needed outside a team' },
      priority: { type: 'string', enum: [...NOTE_PRIORITIES], description: 'How urgent it is on that channel' },
    },
    required: ['message'],
    additionalProperties: false,
  },
  run(args, { task }) {
    const [message, channel, priority] = [args['message'] as string, args['channel'], args['priority']];
    if (message.trim() === '')
      return { kind: 'problem', code: 'bad_field', message: 'message is empty; say what the others should know' };
    if (typeof channel === 'string') {
      const text = `It stands on the channel ${channel}; its readers hear it before their next turn.`;
      return { kind: 'note', channel, message, text, ...(priority ? { priority: priority as NotePriority } : {}) };
    }
    if (roleFacts(task.role).isRound) return { kind: 'text', text: 'The others will hear it in the next round.' };
    return { kind: 'problem', code: 'bad_field', message: 'you sit in no team: say on which channel, with "channel"' };
  },
};

export const voteConclude: Tool = {
  name: 'vote_conclude',
  kind: 'pure',
  description: 'Votes to end the deliberation. It ends when all active members vote so in the same round.',
  parameters: {
    type: 'object',
    properties: { reason: { type: 'string', description: 'Why enough was said' } },
    additionalProperties: false,
  },
  run: () => ({ kind: 'text', text: 'Your vote is noted. End your turn now.' }),
};

export const concludeTeam: Tool = {
  name: 'conclude_team',
  kind: 'pure',
  description: "Ends the team's deliberation; you then give the final answer.",
  parameters: {
    type: 'object',
    properties: { reason: { type: 'string', description: 'Why it can be decided now' } },
    additionalProperties: false,
  },
  run: () => ({ kind: 'final', text: 'concluded' }),
};
