/** The open tasks, as tools show them to agents. */
import { defined } from '../../domain/defined.js';
import { compareText } from '../../domain/order.js';
import { sessionId } from '../../domain/session/session-id.js';
import { ENGINE, HUMAN } from '../../domain/task/task.js';
import type { OpenWork, SessionShown } from '../../tools/core/tool.js';
import type { EngineContext } from '../core/context.js';

export function openSessions(context: EngineContext): SessionShown[] {
  const open = [...context.tasks.open()].filter(({ task }) => task.session !== undefined || task.to !== undefined);
  open.sort((a, b) => compareText(a.task.created_at, b.task.created_at));
  return open.flatMap(({ task, state }) => {
    if (task.to === undefined || task.to === HUMAN || task.to === ENGINE) return [];
    const waits = task.waits?.tasks;
    const session = sessionId(task, context.agents.all().get(task.to) ?? { name: task.to });
    return [defined({ session, agent: task.to, task: task.id, state, waits_for: waits })];
  });
}

/** Requests to a person are counted separately, and schedules only wait for their next time. */
export function openWork(context: EngineContext): OpenWork {
  const work: OpenWork = { pending: 0, active: 0, waiting: 0, requests: 0 };
  for (const { task, state } of context.tasks.open()) {
    if (task.to === HUMAN) work.requests++;
    else if (task.schedule === undefined) {
      work[state]++;
      if (work.oldest === undefined || task.created_at < work.oldest.created)
        work.oldest = { task: task.id, created: task.created_at };
    }
  }
  return work;
}
