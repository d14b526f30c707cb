/**
 * Creates a follow-up: a task that continues the conversation of an ended one. Every surface leads
 * here: `guild run --continue`, `guild task tell`, a message in the file, a reply in a thread.
 */
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { FollowUp } from '../../domain/task/follow-up.js';
import { childId } from '../../domain/task/id.js';
import { ENGINE, HUMAN, isEnded, makeTask, type Placed, type Task } from '../../domain/task/task.js';
import type { Sessions } from '../../ports/store/sessions.js';
import type { Tasks } from '../../ports/store/tasks.js';

interface Said {
  /** The id of the new task. The same id twice creates one task. */
  id: string;
  text: string;
  by: string;
  at: string;
  /** `message`: it comes from outside. */
  type?: string;
  /** The index of a message that is already in the conversation: see `FollowUp`. */
  from?: number;
  /** Files of the workspace that the agent gets with the message. */
  attachments?: string[];
  /** More keys of the task's context, such as its taint or the address for the answer. */
  context?: Record<string, unknown>;
}

type Stores = { tasks: Pick<Tasks, 'read' | 'create'>; sessions: Pick<Sessions, 'stamp'> };

/** Undefined if a task with this id already exists. */
export async function createFollowUp(
  stores: Stores,
  of: Placed,
  { id, text, by, at, type, from, attachments, context }: Said,
): Promise<Task | Problem | undefined> {
  if (!isEnded(of.state)) return problem('bad_usage', `${of.task.id} has not ended`);
  const { to } = of.task;
  if (to === undefined || to === HUMAN || to === ENGINE)
    return problem('bad_usage', `${of.task.id} has no conversation with an agent`);
  const session = await sessionOf(stores, of.task);
  if (session === undefined)
    return problem('not_found', `the conversation of ${of.task.id} is gone`, {
      hint: `start a new one with guild run ${to} <text>`,
    });
  const follows: FollowUp = defined({ task: of.task.id, from });
  const { taint, reply_to: replyTo } = of.task.context;
  const task = makeTask({
    id,
    description: text,
    to,
    from: by,
    created_by: by,
    created_at: at,
    session,
    ...defined({ type, attachments }),
    context: defined({ taint, reply_to: replyTo || undefined, ...context, follows }),
  });
  return (await stores.tasks.create(task)) ? task : undefined;
}

/** An agent with a pattern speaks in its work stage. */
async function sessionOf(stores: Stores, task: Task): Promise<string | undefined> {
  const work = task.session === undefined ? await stores.tasks.read(childId(task.id, 'work')) : undefined;
  const session = task.session ?? work?.task.session;
  return session !== undefined && (await stores.sessions.stamp(session)) !== undefined ? session : undefined;
}
