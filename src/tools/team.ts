/** What members of a team do: speak to all, and say when enough was said. What they say is kept in their conversation; the engine carries it. */
import type { Tool } from './tool.js';

export const broadcast: Tool = {
  name: 'broadcast',
  kind: 'pure',
  description: 'Says something to the whole team; the others hear it in the next round.',
  parameters: {
    type: 'object',
    properties: { message: { type: 'string', description: 'What the others should know' } },
    required: ['message'],
    additionalProperties: false,
  },
  run: (args) =>
    (args['message'] as string).trim() === ''
      ? { kind: 'problem', code: 'bad_field', message: 'message is empty; say what the others should know' }
      : { kind: 'text', text: 'The others will hear it in the next round.' },
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
