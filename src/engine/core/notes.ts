/**
 * Telling and hearing notes. The engine stamps who tells and when, and asks the rules who may; so the sender of a note is known,
 * whatever a model says. A reader's cursor moves only after what it heard is durable in its conversation: a crash in between
 * shows the note again, and it is recognised.
 */
import {
  NOTE_TTL_MS,
  TEAM_CHANNELS,
  type Note,
  type NoteBody,
  type NotePriority,
} from '../../domain/coordination/note.js';
import { type Problem } from '../../domain/problem.js';
import { refusedNote, type ChannelsKnown } from '../../rules/coordination/channels.js';
import { record, type Ports } from './context.js';

export interface Telling {
  channel: string;
  /** Who tells it, as the engine knows: an agent, `human`, or `engine`. */
  from: string;
  body: NoteBody;
  priority?: NotePriority;
  to?: string;
  task?: string;
  root?: string;
  /** How long anybody needs it; default: what the channel says, else a week. */
  ttlMs?: number;
  /** Derived from what it tells, so that telling twice is telling once; default: a fresh one. */
  id?: string;
}

/** What is needed to tell; a whole engine has it. */
export type Tellers = Pick<
  Ports,
  'bus' | 'config' | 'clock' | 'ids' | 'agents' | 'tasks' | 'presence' | 'events' | 'watchers'
>;

export function tellNote(
  context: Tellers,
  telling: Telling,
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  return tellMany(context, [telling], options);
}

/** All of them in one go. A problem: none was told. */
export async function tellMany(
  context: Tellers,
  tellings: readonly Telling[],
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  if (tellings.length === 0) return undefined;
  const known = await channelsKnown(context, tellings);
  for (const telling of tellings) {
    const refused = refusedNote(telling, known);
    if (refused !== undefined) return refuse(context, telling, refused);
  }
  const wrong = await context.bus.tell(
    tellings.map((telling) => stamped(context, telling)),
    options,
  );
  return wrong && refuse(context, tellings[0]!, wrong);
}

function refuse(context: Tellers, { channel, from, task }: Telling, why: Problem): Problem {
  record(context, 'note.refused', { channel, from, ...(task ? { task } : {}), problem: why });
  return why;
}

function stamped(context: Tellers, telling: Telling): Note {
  const { channel, from, body, to, task, root, ttlMs, priority = 'normal' } = telling;
  const at = context.clock.now();
  const kept = ttlMs ?? context.config.channels[channel]?.ttlMs ?? NOTE_TTL_MS;
  return {
    id: telling.id ?? context.ids.next(),
    channel,
    from,
    at: at.toISOString(),
    priority,
    ...(to === undefined ? {} : { to }),
    ...(task === undefined ? {} : { task }),
    ...(root === undefined ? {} : { root }),
    expires: new Date(at.getTime() + kept).toISOString(),
    body,
  };
}

async function channelsKnown(context: Tellers, tellings: readonly Telling[]): Promise<ChannelsKnown> {
  const agents = context.agents.all();
  const teams = new Map<string, readonly string[]>();
  for (const channel of new Set(tellings.map((telling) => telling.channel))) {
    if (!channel.startsWith(TEAM_CHANNELS)) continue;
    const coordinator = (await context.tasks.read(channel.slice(TEAM_CHANNELS.length)))?.task.to;
    const team = coordinator === undefined ? undefined : agents.get(coordinator)?.team;
    if (coordinator !== undefined && team !== undefined) teams.set(channel, [coordinator, ...team.members]);
  }
  return { named: context.config.channels, isAgent: (name) => agents.has(name), team: (channel) => teams.get(channel) };
}
