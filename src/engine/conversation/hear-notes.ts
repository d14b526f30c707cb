/**
 * Adds unread notes to a conversation. A reader's cursor moves only after the message is durable.
 * After a crash in between, the note is unread again and is recognised by its id.
 */
import type { Note } from '../../domain/coordination/note.js';
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { lastThatMatters, type Message } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import type { Bus } from '../../ports/bus.js';
import { channelsRead } from '../../rules/coordination/channels.js';
import { fence } from '../../rules/patterns/gather.js';
import { record, type EngineContext } from '../core/context.js';
import type { Conversation } from './conversation.js';

/** Notes added before one turn; the rest comes before the next. */
const MAX_NOTES = 50;

/** True if notes were added or the file was edited. */
export async function hearNotes(context: EngineContext, task: Task, conversation: Conversation): Promise<boolean> {
  const { bus } = context;
  const name = conversation.agent.name;
  const channels = channelsRead(name, context.config.channels);
  if (channels.length === 0) return false;
  const last = lastThatMatters(conversation.messages());
  if (last?.kind === 'note') return false; // the next turn is due
  // Two conversations of one agent must not add the same notes at the same time.
  const busy = context.hearingNotes;
  if (busy.has(name)) return false;
  busy.add(name);
  try {
    return await hear(context, bus, task, conversation, channels);
  } finally {
    busy.delete(name);
  }
}

async function hear(
  context: EngineContext,
  bus: Bus,
  task: Task,
  conversation: Conversation,
  channels: string[],
): Promise<boolean> {
  const reader = conversation.agent.name;
  // A note of another process may be newer than the last look, yet older than the end of the task.
  for (const problem of await bus.refresh({ maxAgeMs: INTERVALS.requestAgeMs })) context.watchers.problem(problem);
  const unread = channels.flatMap((channel) => bus.unread(channel, reader, MAX_NOTES));
  if (unread.length === 0) return false;
  const urgent = mostUrgent(unread.filter((note) => note.from !== reader)).slice(0, MAX_NOTES);
  const heard = new Set(conversation.messages().map((message) => message.cause));
  const news = urgent.filter((note) => !heard.has(note.id)).map(asMessage);
  if (news.length > 0 && (await conversation.append(news, true)) === 'edited') return true;
  const finished = new Set([...urgent, ...unread.filter((note) => note.from === reader)]);
  for (const channel of channels) {
    const ids = [...finished].flatMap((note) => (note.channel === channel ? [note.id] : []));
    if (ids.length > 0) await bus.done(channel, reader, ids);
  }
  if (news.length > 0)
    record(context, 'note.heard', { task: task.id, agent: reader, notes: urgent.map((note) => note.id) });
  return news.length > 0;
}

/**
 * Each channel is already in order; across channels the more urgent notes go first, then the
 * earlier ones.
 */
function mostUrgent(notes: Note[]): Note[] {
  const rank = { critical: 0, high: 1, normal: 2, low: 3 };
  return notes.sort((a, b) => rank[a.priority] - rank[b.priority] || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function asMessage(note: Note): Message {
  const text = note.body.type === 'said' ? note.body.text : JSON.stringify(note.body);
  const about = [note.priority === 'normal' ? undefined : note.priority, note.task].filter(Boolean).join(', ');
  const head = `Note from ${note.from} on the channel ${note.channel}${about === '' ? '' : ` (${about})`}:`;
  return defined({
    role: 'user',
    content: `${head}\n\n${fence('note', note.from, text, note.id)}`,
    from: note.from,
    kind: 'note',
    cause: note.id,
    taint: note.taint,
    timestamp: note.at,
  });
}
