/** The parts of `guild.yaml` about how agents find each other and talk: coordination, channels. */
import { DEFAULT_COORDINATION, DEFAULT_NOTE_BYTES } from '../domain/config/config.js';
import { OWN_CHANNELS } from '../domain/coordination/note.js';
import { isSafeId } from '../domain/task/id.js';
import { key } from './about.js';
import { at, choice, duration, mapping, names, text, whole } from './values.js';
import * as z from './zod.js';

const wait = DEFAULT_COORDINATION;
export const coordination = z.strictObject(
  {
    mode: key(
      choice(['hierarchical', 'mesh']),
      'In `hierarchical` mode the coordinator matches agents that need something with agents that have it. ' +
        'In `mesh` mode agents offer themselves and the best offer wins.',
      { default: '`hierarchical` if there is a `coordinator`, else `mesh`', example: 'mesh' },
    ),
    coordinator: key(text, 'The agent that decides in hierarchical mode.', { example: 'orchestrator' }),
    offer: key(duration, 'How long agents may take to offer themselves.', seconds(wait.offerMs)),
    help: key(
      duration,
      'After this time, a help request without an answer goes to the coordinator, or else to the human.',
      seconds(wait.helpMs),
    ),
    bid: key(duration, 'How long an agent may take to bid for an offered task.', seconds(wait.bidMs)),
    vote: key(
      duration,
      'How long a process may take to agree that a root task is complete. After that it is left out.',
      seconds(wait.voteMs),
    ),
    lease: key(
      duration,
      'With a `store` on several machines: after this time without a sign of life, other processes take over the ' +
        'tasks of a process.',
      seconds(wait.leaseMs),
    ),
  },
  mapping,
);

const error = 'a name of letters, digits, "-" and "_" that is not a channel of the program itself';
export const channelName = z
  .string()
  .check(z.refine((name) => isSafeId(name) && name !== 'team' && !OWN_CHANNELS.some((own) => own === name), { error }));

export const channel = z.union(
  [
    z.null(),
    z.strictObject({
      writers: key(names, 'Agents that may write. The human always may.', { default: 'all agents', example: '[ops]' }),
      readers: key(names, 'Agents that receive its notes in their conversations.', {
        default: 'none: people read it',
        example: '[planner]',
      }),
      ttl: key(duration, 'How long a note is kept.', { default: '`7d`', example: '1d' }),
      max_bytes: key(whole(1), 'The largest note.', at(DEFAULT_NOTE_BYTES)),
    }),
  ],
  mapping,
);

function seconds(ms: number): { default: string } {
  return { default: ms % 60_000 === 0 ? `\`${ms / 60_000}m\`` : `\`${ms / 1000}s\`` };
}
