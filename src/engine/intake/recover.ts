/**
 * Recovers the tasks of dead peers. Each goes back to pending with one more attempt, recorded
 * before anything else happens, so that a task that kills its process is not retried forever.
 */
import { problem, type Problem } from '../../domain/problem.js';
import { messagesOf } from '../../domain/session/session.js';
import type { LostTaker, Task } from '../../domain/task/task.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { fail } from '../tasks/settle.js';
import { sessionId } from '../../domain/session/session-id.js';
import { resolveAssignee } from '../core/assignee.js';
import { record, type EngineContext } from '../core/context.js';

/** Returns the number of recovered tasks. */
export async function recover(context: EngineContext): Promise<number> {
  const { config } = context;
  const orphans = await context.tasks.orphans();
  if (orphans.length === 0) return 0;
  let count = 0;
  for (const id of orphans) {
    const claim = await context.tasks.takeOver(id);
    if (claim === undefined) continue;
    count++;
    const session = sessionOf(context, claim.task);
    const opened = session === undefined ? undefined : await context.sessions.open(session, { repair: true });
    if (opened?.kind === 'held') context.watchers.problem(opened.problem);
    const own = opened?.kind === 'open' ? (messagesOf(opened.session, id)?.length ?? 0) : 0;
    // Conversations that only the dead peer's journal had also count as progress.
    const messages = own + (claim.unseen ? claim.unseen + (claim.task.lost?.at(-1)?.messages ?? 0) : 0);
    const lost = lostInARow(claim.task, { at: context.clock.now().toISOString(), agent: claim.agent, messages });
    const task: Task = {
      ...claim.task,
      attempts: lost.length === 1 ? 1 : claim.task.attempts + 1,
      lost,
      ...(opened?.kind === 'open' ? { session: session! } : {}),
    };
    if (task.attempts >= config.limits.attempts) {
      await fail(context, claim, task, tooManyLost(task.attempts, lost), await costsAtRest(context, task));
      continue;
    }
    if (await context.tasks.release(claim, task))
      record(context, 'task.recovered', { task: id, agent: claim.agent, attempts: task.attempts, messages });
  }
  return count;
}

function sessionOf(context: EngineContext, task: Task): string | undefined {
  const assignee = resolveAssignee(context, task);
  if (!('agent' in assignee)) return undefined;
  return sessionId(task, context.agents.all().get(assignee.agent) ?? { name: assignee.agent });
}

/** New messages since the last crash are progress: the count starts over. */
function lostInARow({ lost = [] }: Task, now: LostTaker): LostTaker[] {
  const last = lost.at(-1);
  return last !== undefined && last.messages < now.messages ? [now] : [...lost, now].slice(-MAX_KEPT);
}

const MAX_KEPT = 10;

function tooManyLost(times: number, lost: readonly LostTaker[]): Problem {
  const history = lost.map(({ at, agent, messages }) => `${at} ${agent}, after ${messages} messages`).join('; ');
  return problem('taker_lost', `the process working on it died ${times} times in a row: ${history}`, {
    hint: 'check its session for what it was doing, then retry it; it continues from there',
  });
}
