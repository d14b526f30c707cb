/**
 * Publishes notes on channels. The engine stamps sender and time and asks the rules who may
 * publish, so a model cannot forge the sender.
 */
import {
  NOTE_TTL_MS,
  TEAM_CHANNELS,
  type Note,
  type NoteBody,
  type NotePriority,
} from '../../domain/coordination/note.js';
import { defined } from '../../domain/defined.js';
import { type Problem } from '../../domain/problem.js';
import { refusedNote, type ChannelFacts } from '../../rules/coordination/channels.js';
import { record, type Ports } from './context.js';

export interface OutgoingNote {
  channel: string;
  /** The sender as the engine knows it: an agent, `human` or `engine`. */
  from: string;
  body: NoteBody;
  priority?: NotePriority;
  to?: string;
  task?: string;
  root?: string;
  taint?: string[];
  /** Time to live; default: the channel's, else a week. */
  ttlMs?: number;
  /** Derived from the content, so that publishing twice has no effect; default: a new id. */
  id?: string;
}

type Publisher = Pick<
  Ports,
  'bus' | 'config' | 'clock' | 'ids' | 'agents' | 'tasks' | 'presence' | 'events' | 'watchers'
>;

export function publishNote(
  context: Publisher,
  note: OutgoingNote,
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  return publishNotes(context, [note], options);
}

/** Publishes all notes at once, or none and returns the problem. */
export async function publishNotes(
  context: Publisher,
  notes: readonly OutgoingNote[],
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  if (notes.length === 0) return undefined;
  const known = await channelsKnown(context, notes);
  for (const note of notes) {
    const refused = refusedNote(note, known);
    if (refused !== undefined) return refuse(context, note, refused);
  }
  const wrong = await context.bus.tell(
    notes.map((note) => stamped(context, note)),
    options,
  );
  return wrong && refuse(context, notes[0]!, wrong);
}

function refuse(context: Publisher, { channel, from, task }: OutgoingNote, why: Problem): Problem {
  record(context, 'note.refused', { channel, from, task, problem: why });
  return why;
}

function stamped(context: Publisher, note: OutgoingNote): Note {
  const { channel, from, body, to, task, root, taint, ttlMs, priority = 'normal' } = note;
  const at = context.clock.now();
  const kept = ttlMs ?? context.config.channels[channel]?.ttlMs ?? NOTE_TTL_MS;
  return defined({
    id: note.id ?? context.ids.next(),
    channel,
    from,
    at: at.toISOString(),
    priority,
    to,
    task,
    root,
    taint,
    expires: new Date(at.getTime() + kept).toISOString(),
    body,
  });
}

async function channelsKnown(context: Publisher, notes: readonly OutgoingNote[]): Promise<ChannelFacts> {
  const agents = context.agents.all();
  const teams = new Map<string, readonly string[]>();
  for (const channel of new Set(notes.map((note) => note.channel))) {
    if (!channel.startsWith(TEAM_CHANNELS)) continue;
    const coordinator = (await context.tasks.read(channel.slice(TEAM_CHANNELS.length)))?.task.to;
    const team = coordinator === undefined ? undefined : agents.get(coordinator)?.team;
    if (coordinator !== undefined && team !== undefined) teams.set(channel, [coordinator, ...team.members]);
  }
  return { named: context.config.channels, isAgent: (name) => agents.has(name), team: (channel) => teams.get(channel) };
}
