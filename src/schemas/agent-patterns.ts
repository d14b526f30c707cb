/** The keys of an agent that say how it works with others: advisors, router, team. */
import { DEFAULT_TEAM_ROUNDS } from '../domain/agent/agent.js';
import { key, named, needed, rule } from './about.js';
import { at, choice, duration, flag, name, names, text, whole } from './values.js';
import * as z from './zod.js';

export const advisor = z.union(
  [
    named('name', z.string()),
    z.strictObject({
      agent: needed(text, 'The name of the agent.', { example: 'risk', spellings: ['name'] }),
      required: key(flag, 'If it fails or is late, the task fails too.', { default: '`false`' }),
      timeout: key(duration, 'How long it may take.', { default: 'no separate limit', example: '60s' }),
    }),
  ],
  { error: 'an agent\'s name, or a mapping with "agent"' },
);

export const router = z.union(
  [
    flag,
    z.strictObject({
      destinations: key(names, 'The agents to choose from.', {
        default: 'the `agents` of this agent',
        example: '[billing, support]',
      }),
      fallback: key(text, 'The agent that gets the task if two choices in a row are not valid.', {
        example: 'support',
      }),
    }),
  ],
  { error: 'true, or a mapping with "destinations"' },
);

export const team = z.union(
  [
    named('list of names', z.array(name)),
    z
      .strictObject({
        members: needed(names, 'The agents of the team.', { example: '[analyst, developer]' }),
        termination_mode: key(
          choice(['consensus', 'max_rounds', 'coordinator_decides']),
          'When the team stops: all members vote to conclude, the rounds are over, or the coordinator decides.',
          { default: '`consensus`' },
        ),
        max_rounds: key(whole(1), 'The most rounds.', at(DEFAULT_TEAM_ROUNDS)),
      })
      .check(rule(({ members }) => members.length > 0, '"members" must name at least one agent')),
  ],
  { error: 'a mapping with "members"' },
);

type Routed = { router?: unknown; agents?: string | readonly unknown[] };

/** The same checks for every schema with the keys above. */
export const routerRules = [
  rule<Routed>(
    ({ router: routed, agents = [] }) => routed !== true || agents.length > 0,
    'a router needs destinations',
    {
      path: ['router'],
      side: 'key',
      hint: 'list them under "agents", or write router: {destinations: [a, b]}',
    },
  ),
  rule<Routed>(
    ({ router: routed, agents = [] }) => {
      const destinations = (routed as { destinations?: string | unknown[] } | undefined)?.destinations ?? agents;
      return typeof routed !== 'object' || destinations.length > 0;
    },
    '"router" must be a mapping with "destinations", a list of agents',
    { path: ['router'] },
  ),
];
