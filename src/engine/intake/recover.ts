/**
 * Recovers the tasks of dead peers. Each goes back to pending with one more attempt, recorded
 * before anything else happens, so that a task that kills its process is not retried forever. Only
 * deaths of processes that worked on nothing else count against it (domain/task/lost-takers.ts).
 */
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import { messagesOf } from '../../domain/session/session.js';
import { lostInARow, ownLosses } from '../../domain/task/lost-takers.js';
import type { LostTaker, Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { fail } from '../tasks/settle.js';
import { sessionId } from '../../domain/session/session-id.js';
import { resolveAssignee } from '../core/assignee.js';
import { record, type EngineContext } from '../core/context.js';
import { faultProblem, isContained } from '../core/fence.js';

export async function recover(context: EngineContext): Promise<number> {
  const orphans = await context.tasks.orphans();
  let count = 0;
  for (const id of orphans) {
    const owner = context.tasks.getOpen(id)?.owner?.peer;
    const claim = await context.tasks.takeOver(id);
    if (claim === undefined) continue;
    count++;
    try {
      const isAbandoned = owner !== undefined && context.abandoned.has(owner);
      await putBack(context, claim, isAbandoned ? 'abandoned' : orphans.length - 1);
    } catch (thrown) {
      if (!isContained(thrown)) throw thrown;
      await fail(context, claim, claim.task, faultProblem(thrown, 'this task could not be recovered'));
    }
  }
  return count;
}

/**
 * `beside`: how many other tasks were left behind with this one, or `abandoned` if the store failed
 * and no process died.
 */
async function putBack(context: EngineContext, claim: Claim, beside: number | 'abandoned'): Promise<void> {
  const { id } = claim;
  const session = sessionOf(context, claim.task);
  const opened = session === undefined ? undefined : await context.sessions.open(session, { repair: true });
  if (opened?.kind === 'held') context.watchers.problem(opened.problem);
  const own = opened?.kind === 'open' ? (messagesOf(opened.session, id)?.length ?? 0) : 0;
  // Conversations that only the dead peer's journal had also count as progress.
  const messages = own + (claim.unseen ? claim.unseen + (claim.task.lost?.at(-1)?.messages ?? 0) : 0);
  const kept = opened?.kind === 'open' ? { session: session! } : {};
  if (beside === 'abandoned') {
    await context.tasks.release(claim, { ...claim.task, ...kept });
    return;
  }
  const at = context.clock.now().toISOString();
  const lost = lostInARow(
    claim.task,
    defined({ at, agent: claim.agent, messages, beside: beside > 0 ? beside : undefined }),
  );
  const task: Task = {
    ...claim.task,
    attempts: lost.length === 1 ? 1 : claim.task.attempts + 1,
    lost,
    ...kept,
  };
  if (ownLosses(lost) >= context.config.limits.attempts) {
    await fail(context, claim, task, tooManyLost(lost), await costsAtRest(context, task));
    return;
  }
  if (await context.tasks.release(claim, task))
    record(context, 'task.recovered', { task: id, agent: claim.agent, attempts: task.attempts, messages });
}

function sessionOf(context: EngineContext, task: Task): string | undefined {
  const assignee = resolveAssignee(context, task);
  if (!('agent' in assignee)) return undefined;
  return sessionId(task, context.agents.all().get(assignee.agent) ?? { name: assignee.agent });
}

function tooManyLost(lost: readonly LostTaker[]): Problem {
  const history = lost
    .map(({ at, agent, messages, beside }) => {
      const others = beside === undefined ? '' : `, beside ${beside} other ${beside === 1 ? 'task' : 'tasks'}`;
      return `${at} ${agent}, after ${messages} messages${others}`;
    })
    .join('; ');
  return problem('taker_lost', `the process working on it died ${lost.length} times in a row: ${history}`, {
    hint: 'check its session for what it was doing, then retry it; it continues from there',
  });
}
