/** Reports a broken deadlock with an event and a note, from the process that ended the task. */
import { hash53 } from '../../domain/task/id.js';
import { ENGINE } from '../../domain/coordination/note.js';
import type { Task } from '../../domain/task/task.js';
import { publishNote } from '../core/notes.js';
import { record, type Ports } from '../core/context.js';

export async function reportDeadlock(
  context: Ports,
  { id: cancelled, to, parent, retries = 0 }: Task,
  { cycle, victim, rule, handled }: { cycle: string[]; victim: string; rule: string; handled?: string },
): Promise<void> {
  record(context, 'deadlock.broken', {
    task: victim,
    agent: to,
    cause: parent,
    cycle,
    victim,
    cancelled,
    rule,
    mode: context.config.coordination.mode,
    handled,
  });
  const { mode, coordinator } = context.config.coordination;
  await publishNote(context, {
    id: `deadlock-${hash53([...cycle, cancelled, ...(retries > 0 ? [retries] : [])].join('\n'))}`,
    channel: 'dependency',
    from: ENGINE,
    priority: 'high',
    to: mode === 'hierarchical' ? coordinator : undefined,
    task: victim,
    body: { type: 'deadlock', cycle, victim, rule, cancelled },
  });
}

/** For a cycle in which all tasks fail. `handled`: the coordinator's task about it. */
export function reportImpossible(
  context: Ports,
  cycle: readonly string[],
  victim: string,
  handled: string | undefined,
): void {
  const { mode } = context.config.coordination;
  const rule = 'each task only depends on the next, so none could start and all of them fail';
  record(context, 'deadlock.broken', { task: victim, cycle, victim, cancelled: victim, rule, mode, handled });
}
