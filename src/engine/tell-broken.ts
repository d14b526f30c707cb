/** Tells that a circle of waits was broken: one line of history, and a note for those who coordinate. Whoever ended the ask tells it. */
import { hash53 } from '../domain/id.js';
import type { Note } from '../domain/note.js';
import type { Task } from '../domain/task.js';
import { record, type Parts } from './parts.js';

export async function tellBroken(
  parts: Parts,
  { id: cancelled, to, parent }: Task,
  { cycle, victim, rule }: { cycle: string[]; victim: string; rule: string },
): Promise<void> {
  record(parts, 'deadlock.broken', {
    task: victim,
    ...(to === undefined ? {} : { agent: to }),
    ...(parent === undefined ? {} : { cause: parent }),
    cycle,
    victim,
    cancelled,
    rule,
    mode: parts.config.coordination.mode,
  });
  const { mode, coordinator } = parts.config.coordination;
  const note: Note = {
    id: `deadlock-${hash53(`${cycle.join('\n')}\n${cancelled}`)}`,
    channel: 'dependency',
    from: 'engine',
    at: parts.clock.now().toISOString(),
    priority: 'high',
    // The coordinator may give what was cancelled to somebody else.
    ...(mode === 'hierarchical' && coordinator !== undefined ? { to: coordinator } : {}),
    task: victim,
    body: { type: 'deadlock', cycle, victim, rule, cancelled },
  };
  await parts.bus?.tell([note]);
}
