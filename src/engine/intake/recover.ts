/**
 * Takes up what dead peers left. Their claims go back among the pending with one more attempt counted, before anything
 * else is done with them, so a task that kills its takers cannot do so without end.
 */
import { problem, type Problem } from '../../domain/problem.js';
import { messagesOf } from '../../domain/session/session.js';
import type { LostTaker, Task } from '../../domain/task/task.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { fail } from '../tasks/settle.js';
import { sessionId } from '../../domain/session/session-id.js';
import { takerOf } from './intents.js';
import { record, type Parts } from '../core/context.js';

/** How many tasks came back. */
export async function recover(parts: Parts): Promise<number> {
  const { store, config } = parts;
  const orphans = await store.orphans();
  if (orphans.length === 0) return 0;
  let count = 0;
  for (const id of orphans) {
    const claim = await store.takeOver(id);
    if (claim === undefined) continue;
    count++;
    const session = sessionOf(parts, claim.task);
    const opened = session === undefined ? undefined : await store.openSession(session, { repair: true });
    if (opened?.kind === 'held') parts.watchers?.problem?.(opened.problem);
    const own = opened?.kind === 'open' ? (messagesOf(opened.session, id)?.length ?? 0) : 0;
    // What was said for its parts is progress of its own, where they had no record yet to tell of it.
    const messages = own + (claim.unseen ? claim.unseen + (claim.task.lost?.at(-1)?.messages ?? 0) : 0);
    const lost = rowOfLost(claim.task, { at: parts.clock.now().toISOString(), agent: claim.agent, messages });
    const task: Task = {
      ...claim.task,
      attempts: lost.length === 1 ? 1 : claim.task.attempts + 1,
      lost,
      ...(opened?.kind === 'open' ? { session: session! } : {}),
    };
    if (task.attempts >= config.limits.attempts) {
      await fail(parts, claim, task, tooManyLost(task.attempts, lost), await costsAtRest(parts, task));
      continue;
    }
    if (await store.release(claim, task))
      record(parts, 'task.recovered', { task: id, agent: claim.agent, attempts: task.attempts, messages });
  }
  return count;
}

function sessionOf(parts: Parts, task: Task): string | undefined {
  const taker = takerOf(parts, task);
  if (!('agent' in taker)) return undefined;
  return sessionId(task, parts.agents.all().get(taker.agent) ?? { name: taker.agent });
}

/** If more was said since the last one died, it came further, and the row begins anew. */
function rowOfLost({ lost = [] }: Task, now: LostTaker): LostTaker[] {
  const last = lost.at(-1);
  return last !== undefined && last.messages < now.messages ? [now] : [...lost, now].slice(-MOST_KEPT);
}

const MOST_KEPT = 10;

function tooManyLost(times: number, lost: readonly LostTaker[]): Problem {
  const history = lost.map(({ at, agent, messages }) => `${at} ${agent}, after ${messages} messages`).join('; ');
  return problem('taker_lost', `the process working on it died ${times} times in a row: ${history}`, {
    hint: 'look into its session for what it was doing, then retry it: it goes on from there',
  });
}
