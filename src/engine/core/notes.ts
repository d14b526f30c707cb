/**
 * Telling and hearing notes. The engine stamps who tells and when, and asks the rules who may; so the sender of a note is known,
 * whatever a model says. A reader's cursor moves only after what it heard is durable in its conversation: a crash in between
 * shows the note again, and it is recognised.
 */
import type { Message } from '../../domain/session/session.js';
import {
  NOTE_TTL_MS,
  TEAM_CHANNELS,
  type Note,
  type NoteBody,
  type NotePriority,
} from '../../domain/coordination/note.js';
import { type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Bus } from '../../ports/bus.js';
import { channelsRead, refusedNote, type ChannelsKnown } from '../../rules/coordination/channels.js';
import { fence } from '../../rules/patterns/gather.js';
import type { Conversation } from '../conversation/conversation.js';
import { record, type Parts } from './context.js';

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
export type Tellers = Pick<Parts, 'bus' | 'config' | 'clock' | 'ids' | 'agents' | 'store'>;

export function tellNote(
  parts: Tellers,
  telling: Telling,
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  return tellMany(parts, [telling], options);
}

/** All of them in one go. A problem: none was told. */
export async function tellMany(
  parts: Tellers,
  tellings: readonly Telling[],
  options: { durable?: boolean } = {},
): Promise<Problem | undefined> {
  if (parts.bus === undefined || tellings.length === 0) return undefined;
  const known = await channelsKnown(parts, tellings);
  for (const telling of tellings) {
    const refused = refusedNote(telling, known);
    if (refused !== undefined) return refuse(parts, telling, refused);
  }
  const wrong = await parts.bus.tell(
    tellings.map((telling) => stamped(parts, telling)),
    options,
  );
  return wrong && refuse(parts, tellings[0]!, wrong);
}

function refuse(parts: Tellers, { channel, from, task }: Telling, why: Problem): Problem {
  record(parts as Parts, 'note.refused', { channel, from, ...(task ? { task } : {}), problem: why });
  return why;
}

function stamped(parts: Tellers, telling: Telling): Note {
  const { channel, from, body, to, task, root, ttlMs, priority = 'normal' } = telling;
  const at = parts.clock.now();
  const kept = ttlMs ?? parts.config.channels[channel]?.ttlMs ?? NOTE_TTL_MS;
  return {
    id: telling.id ?? parts.ids.next(),
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

async function channelsKnown(parts: Tellers, tellings: readonly Telling[]): Promise<ChannelsKnown> {
  const agents = parts.agents.all();
  const teams = new Map<string, readonly string[]>();
  for (const channel of new Set(tellings.map((telling) => telling.channel))) {
    if (!channel.startsWith(TEAM_CHANNELS)) continue;
    const coordinator = (await parts.store.read(channel.slice(TEAM_CHANNELS.length)))?.task.to;
    const team = coordinator === undefined ? undefined : agents.get(coordinator)?.team;
    if (coordinator !== undefined && team !== undefined) teams.set(channel, [coordinator, ...team.members]);
  }
  return { named: parts.config.channels, isAgent: (name) => agents.has(name), team: (channel) => teams.get(channel) };
}

/** Notes added before one turn at most; the rest comes before the next. */
const MOST_HEARD = 50;
const HEARD = 'Note from ';

/** Conversations of one agent do not hear the same at the same time. */
const hearing = new WeakMap<Bus, Set<string>>();

/** What was told on the channels that this agent reads becomes part of its conversation. True: something was heard, or the file was edited. */
export async function hearNotes(parts: Parts, task: Task, talk: Conversation): Promise<boolean> {
  const { bus } = parts;
  const name = talk.agent.name;
  const channels = channelsRead(name, parts.config.channels);
  if (bus === undefined || channels.length === 0) return false;
  const last = talk.messages().at(-1);
  if (last?.role === 'user' && last.content.startsWith(HEARD)) return false; // the next turn is due
  const busy = hearing.get(bus) ?? new Set();
  hearing.set(bus, busy);
  if (busy.has(name)) return false;
  busy.add(name);
  try {
    return await hear(parts, bus, task, talk, channels);
  } finally {
    busy.delete(name);
  }
}

async function hear(parts: Parts, bus: Bus, task: Task, talk: Conversation, channels: string[]): Promise<boolean> {
  const reader = talk.agent.name;
  const unread = channels.flatMap((channel) => bus.unread(channel, reader, MOST_HEARD));
  if (unread.length === 0) return false;
  const urgent = mostUrgent(unread.filter((note) => note.from !== reader)).slice(0, MOST_HEARD);
  const known = new Set(talk.messages().map((message) => message.content));
  const news = urgent.map((note) => asMessage(note)).filter((message) => !known.has(message.content));
  if (news.length > 0 && (await talk.append(news, true)) === 'edited') return true;
  const finished = new Set([...urgent, ...unread.filter((note) => note.from === reader)]);
  for (const channel of channels) {
    const ids = [...finished].flatMap((note) => (note.channel === channel ? [note.id] : []));
    if (ids.length > 0) await bus.done(channel, reader, ids);
  }
  if (news.length > 0)
    record(parts, 'note.heard', { task: task.id, agent: reader, notes: urgent.map((note) => note.id) });
  return news.length > 0;
}

/** Each channel gives its own in order; among channels the more urgent go first, and the earlier. */
function mostUrgent(notes: Note[]): Note[] {
  const rank = { critical: 0, high: 1, normal: 2, low: 3 };
  return notes.sort((a, b) => rank[a.priority] - rank[b.priority] || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function asMessage(note: Note): Message {
  const text = note.body.type === 'said' ? note.body.text : JSON.stringify(note.body);
  const about = [note.priority === 'normal' ? undefined : note.priority, note.task].filter(Boolean).join(', ');
  const head = `${HEARD}${note.from} on the channel ${note.channel}${about === '' ? '' : ` (${about})`}:`;
  return {
    role: 'user',
    content: `${head}\n\n${fence('note', note.from, text, note.id)}`,
    from: note.from,
    timestamp: note.at,
  };
}
