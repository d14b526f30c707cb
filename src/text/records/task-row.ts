/** A task as a row of the table `tasks`. The program's keys win over equal keys in the file. */
import type { Placed } from '../../domain/task/task.js';

export function taskRow({ task: { extra, ...task }, state, owner }: Placed): Record<string, unknown> {
  const { id, to, description } = task;
  return {
    ...{ id, state, to, description },
    ...extra,
    ...task,
    ...stateColumns(state),
    ...(owner ? { held_by: owner.agent } : {}),
  };
}

/** The columns that follow from the state alone. */
export function stateColumns(state: Placed['state']): Record<string, unknown> {
  return {
    state,
    completed: state === 'completed',
    failed: state === 'failed',
    in_progress: state === 'active',
  };
}
