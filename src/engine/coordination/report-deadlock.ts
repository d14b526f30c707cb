/** Tells that a circle of waits was broken: one line of history, and a note for those who coordinate. Whoever ended the ask tells it. */
import { hash53 } from '../../domain/task/id.js';
import { ENGINE } from '../../domain/coordination/note.js';
import type { Task } from '../../domain/task/task.js';
import { publishNote } from '../core/notes.js';
import { record, type Ports } from '../core/context.js';

export async function tellBroken(
  context: Ports,
  { id: cancelled, to, parent, retries = 0 }: Task,
  { cycle, victim, rule, handled }: { cycle: string[]; victim: string; rule: string; handled?: string },
): Promise<void> {
  record(context, 'deadlock.broken', {
    task: victim,
    ...(to === undefined ? {} : { agent: to }),
    ...(parent === undefined ? {} : { cause: parent }),
    cycle,
    victim,
    cancelled,
    rule,
    mode: context.config.coordination.mode,
    ...(handled === undefined ? {} : { handled }),
  });
  const { mode, coordinator } = context.config.coordination;
  await publishNote(context, {
    id: `deadlock-${hash53([...cycle, cancelled, ...(retries > 0 ? [retries] : [])].join('\n'))}`,
    channel: 'dependency',
    from: ENGINE,
    priority: 'high',
    ...(mode === 'hierarchical' && coordinator !== undefined ? { to: coordinator } : {}),
    task: victim,
    body: { type: 'deadlock', cycle, victim, rule, cancelled },
  });
}

/** All of them failed: there was no choice. `handled`: the task in which the coordinator sees to it. */
export function tellImpossible(
  context: Ports,
  cycle: readonly string[],
  victim: string,
  handled: string | undefined,
): void {
  const { mode } = context.config.coordination;
  const rule = 'each only depends on the next: none could ever begin, and all of them fail';
  const by = handled === undefined ? {} : { handled };
  record(context, 'deadlock.broken', { task: victim, cycle, victim, cancelled: victim, rule, mode, ...by });
}
