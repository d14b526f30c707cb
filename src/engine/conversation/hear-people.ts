/** Adds messages from people and other agents to the conversation of their task. */
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import type { Message } from '../../domain/session/session.js';
import { HUMAN, type Task } from '../../domain/task/task.js';
import { record, type EngineContext } from '../core/context.js';
import type { Conversation } from './conversation.js';

/** True if messages arrived or a person edited the file meanwhile. */
export async function hearPeople(context: EngineContext, task: Task, conversation: Conversation): Promise<boolean> {
  const messages = (await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs })).filter(
    (intent) => intent.kind === 'tell' && intent.task === task.id,
  );
  for (const intent of messages) {
    if (intent.kind !== 'tell') continue;
    // An agent's text contains the id of its call, so equal texts are the same message. People may
    // repeat themselves, so theirs are compared by time too.
    const isHeard = conversation
      .messages()
      .some(({ content, timestamp }) => content === intent.text && (intent.by !== HUMAN || timestamp === intent.at));
    if (!isHeard) {
      const { text: content, by: from, at: timestamp, taint } = intent;
      const message: Message = defined({ role: 'user', content, from, timestamp, taint });
      if ((await conversation.append([message], true)) === 'edited') return true;
    }
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: task.id, cause: intent.id, kind: 'tell' });
  }
  return messages.length > 0;
}
