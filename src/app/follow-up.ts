/** Continues the conversation of an ended task for a person. */
import { defined } from '../domain/defined.js';
import { ProblemError, problemError } from '../domain/problem.js';
import { HUMAN, type Task } from '../domain/task/task.js';
import { createFollowUp } from '../engine/tasks/follow-up.js';
import type { Store } from '../ports/store/index.js';

/** Throws a ProblemError if there is no such conversation. */
export async function followUp(
  store: Store,
  id: string,
  said: { text: string; attachments?: string[] | undefined },
  now: Date,
  newId: string,
): Promise<Task> {
  const ended = await store.tasks.read(id);
  if (ended === undefined) throw problemError('not_found', `there is no task ${id}`);
  const at = now.toISOString();
  const made = await createFollowUp(store, ended, { ...defined(said), id: newId, by: HUMAN, at });
  if (made === undefined) throw problemError('duplicate', `a task ${newId} already exists`);
  if ('code' in made) throw new ProblemError(made);
  const { peer } = store.presence;
  store.events.append({
    at,
    name: 'task.created',
    peer: peer.id,
    task: newId,
    agent: made.to!,
    cause: HUMAN,
    follows: id,
  });
  return made;
}
