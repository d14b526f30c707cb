/**
 * Messages that a person appended to an ended conversation continue it: each becomes a follow-up,
 * as `guild task tell` does. A conversation that a person put into the folder is taken the same way
 * if an agent can answer it. Task ids follow from the message, so no message is answered twice.
 */
import { noAgent } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Message, Session } from '../../domain/session/session.js';
import { hash53 } from '../../domain/task/id.js';
import { HUMAN, isEnded, makeTask, type Placed, type Task } from '../../domain/task/task.js';
import { record, type EngineContext } from '../core/context.js';
import { createFollowUp } from '../tasks/follow-up.js';

interface Appended {
  moved: boolean;
  problems: Problem[];
}

export async function takeAppended(context: EngineContext): Promise<Appended> {
  const ids = context.editedSessions.look((id, stamp) => context.sessions.known(id, stamp));
  const result: Appended = { moved: false, problems: [] };
  if (ids.length === 0) return result;
  const busy = new Set([...context.tasks.open()].map(({ task }) => task.session ?? ''));
  const done: string[] = [];
  for (const id of ids) {
    // If an agent is working in the conversation, it reads the message itself; a message that it
    // leaves unread is taken later.
    if (busy.has(id)) continue;
    const opened = await context.sessions.open(id);
    // A file that cannot be read is reported, and read again when it changes.
    const taken =
      opened.kind === 'held'
        ? opened.problem
        : opened.kind === 'missing'
          ? 'nothing'
          : await take(context, opened.session);
    if (taken === 'busy') continue;
    if (opened.kind !== 'held') done.push(id);
    if (taken === 'created') result.moved = true;
    if (typeof taken === 'object' && context.heldFiles.isNews(taken)) result.problems.push(taken);
  }
  context.editedSessions.done(done);
  return result;
}

async function take(context: EngineContext, session: Session): Promise<'created' | 'busy' | 'nothing' | Problem> {
  const { header, messages } = session;
  const owner = messages.findLast((message) => message.task !== undefined)?.task ?? header.task;
  // Looked up in memory first: a thousand conversations may wait for their first answer.
  if (owner !== undefined && context.tasks.isOpen(owner)) return 'busy';
  const placed = owner === undefined ? undefined : await context.tasks.read(owner);
  if (placed === undefined ? await isUnderWay(context, owner) : !isEnded(placed.state)) return 'busy';
  const from = firstAppended(messages, owner, placed);
  if (from === undefined) return 'nothing';
  const text = messages
    .slice(from)
    .map(({ content }) => content.trim())
    .join('\n\n');
  const id = `follow-${hash53(`${header.sessionId}\n${from}\n${text}`)}`;
  const at = context.clock.now().toISOString();
  const made =
    placed === undefined
      ? await dropped(context, session, { id, text, from, at })
      : await createFollowUp(context, placed, { id, text, by: HUMAN, at, from });
  if (made === undefined) return 'nothing';
  if ('code' in made) return made;
  const file = `sessions/${header.sessionId}.session.yaml`;
  record(context, 'task.created', {
    task: made.id,
    agent: made.to!,
    cause: file,
    follows: owner,
  });
  return 'created';
}

/**
 * A process writes the conversation of a child before the child's record has its name. Until then
 * the tasks above it are open, so the conversation is theirs and was not put there by a person.
 */
async function isUnderWay({ tasks }: EngineContext, owner: string | undefined): Promise<boolean> {
  for (let end = owner?.lastIndexOf('.') ?? -1; end > 0; end = owner!.lastIndexOf('.', end - 1)) {
    const above = await tasks.read(owner!.slice(0, end));
    if (above !== undefined && !isEnded(above.state)) return true;
  }
  return false;
}

/**
 * The index of the first message that a person appended. The program itself adds user messages when
 * a task fails, so in a failed task's conversation only later messages count.
 */
function firstAppended(
  messages: readonly Message[],
  owner: string | undefined,
  placed: Placed | undefined,
): number | undefined {
  const ended = placed?.state === 'failed' ? (placed.task.ended_at ?? '') : '';
  const isPersons = ({ role, kind, task, timestamp }: Message): boolean =>
    role === 'user' && kind === undefined && task === undefined && (timestamp === undefined || timestamp > ended);
  let from = messages.length;
  while (from > 0 && isPersons(messages[from - 1]!)) from--;
  const isSaid = messages.slice(from).some(({ content }) => content.trim() !== '');
  // The request that started an ended task, or a deleted one, is not a message to it.
  const isRequest = owner !== undefined && from === 0;
  return isSaid && !isRequest ? from : undefined;
}

interface Found {
  id: string;
  text: string;
  from: number;
  at: string;
}

/** A conversation without a task: a person put it there. The origin of its text is unknown. */
async function dropped(
  context: EngineContext,
  { header: { sessionId, agentId } }: Session,
  { id, text, from, at }: Found,
): Promise<Task | Problem | undefined> {
  if (!context.agents.all().has(agentId)) {
    return problem('unknown_agent', noAgent(agentId, context.agents.all().keys()), {
      where: { file: `sessions/${sessionId}.session.yaml` },
      hint: 'change agent_id in the file, or write the agent',
    });
  }
  const task = makeTask({
    id,
    description: text,
    to: agentId,
    from: HUMAN,
    created_by: HUMAN,
    created_at: at,
    session: sessionId,
    context: { taint: [`session/${sessionId}`], follows: { task: id, from } },
  });
  return (await context.tasks.create(task)) ? task : undefined;
}
