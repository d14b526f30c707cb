/** Creates a task for a person, durably. */
import { randomBytes } from 'node:crypto';
import { defined } from '../domain/defined.js';
import { isSafeId } from '../domain/task/id.js';
import { problemError } from '../domain/problem.js';
import { cronFault, zoneFault } from '../domain/schedule.js';
import { makeTask, type Task } from '../domain/task/task.js';
import type { Store } from '../ports/store/index.js';

export interface NewTask {
  description: string;
  id?: string | undefined;
  to?: string | undefined;
  type?: string | undefined;
  requirements?: string[] | undefined;
  dependencies?: string[] | undefined;
  /** Paths in the workspace. */
  attachments?: string[] | undefined;
  context?: Record<string, unknown> | undefined;
  /** An existing conversation that the task continues. */
  session?: string | undefined;
  priority?: Task['priority'] | undefined;
  /** A schedule: its due times create tasks; it is not worked on itself. */
  schedule?: Task['schedule'];
}

interface NewTaskOptions {
  at?: Date;
  freshId?: () => string;
  /** The caller waits until the task has ended, and reports nothing before. */
  isAwaited?: boolean;
}

/** Throws a ProblemError if the id is taken or cannot be a file name. */
export async function newTask(store: Store, input: NewTask, options: NewTaskOptions = {}): Promise<Task> {
  const { at = new Date(), freshId = randomId, isAwaited = false } = options;
  const { id = `task_${freshId()}`, description, ...rest } = input;
  if (!isSafeId(id)) {
    throw problemError('bad_name', `${JSON.stringify(id)} cannot be the id of a task`, {
      hint: 'use letters, digits, _ - and . only',
    });
  }
  if (description.trim() === '') throw problemError('bad_usage', 'a task needs a description');
  const fault = input.schedule && (cronFault(input.schedule.cron) ?? zoneFault(input.schedule.timezone ?? 'UTC'));
  if (fault !== undefined) throw problemError('bad_usage', fault, { hint: 'guild schedule test tries one' });
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const task = makeTask({
    id,
    description,
    created_at: at.toISOString(),
    created_by: 'human',
    from: 'human',
    ...fields,
  });
  // A fresh id belongs to this process alone.
  const durable = !isAwaited || input.id !== undefined;
  if (!(await store.tasks.create(task, { durable }))) throw problemError('duplicate', `a task ${id} already exists`);
  store.events.append(
    defined({
      at: task.created_at,
      name: 'task.created',
      peer: store.presence.peer.id,
      task: id,
      agent: task.to,
      cause: 'human',
    }),
  );
  return task;
}

function randomId(): string {
  return randomBytes(5).toString('hex').slice(0, 8);
}
