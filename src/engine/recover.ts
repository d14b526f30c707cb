/**
 * Takes up what dead peers left. Their claims go back among the pending with one more attempt counted, before anything
 * else is done with them, so a task that kills its takers cannot do so without end.
 */
import { problem } from '../domain/problem.js';
import { costsAtRest } from './account.js';
import { fail } from './end.js';
import { sessionId } from './conversation.js';
import { takerOf } from './intake.js';
import { record, type Parts } from './parts.js';

/** How many tasks came back. */
export async function recover(parts: Parts): Promise<number> {
  const { store, config } = parts;
  const orphans = store.orphans();
  if (orphans.length === 0) return 0;
  let count = 0;
  for (const id of orphans) {
    const claim = store.takeOver(id);
    if (claim === undefined) continue;
    count++;
    const task = { ...claim.task, attempts: claim.task.attempts + 1 };
    if (task.attempts > config.limits.attempts) {
      await fail(parts, claim, task, lost(task.attempts), await costsAtRest(parts, task));
      continue;
    }
    const taker = takerOf(parts, task);
    if ('agent' in taker) {
      const session = sessionId(task, parts.agents.all().get(taker.agent) ?? { name: taker.agent });
      const opened = await store.openSession(session, { repair: true });
      if (opened.kind === 'held') parts.watchers?.problem?.(opened.problem);
      if (opened.kind === 'open') task.session = session;
    }
    if (await store.release(claim, task))
      record(parts, 'task.recovered', { task: id, agent: claim.agent, attempts: task.attempts });
  }
  return count;
}

function lost(times: number): ReturnType<typeof problem> {
  return problem('taker_lost', `the process working on it died ${times} times`, {
    hint: 'look into its session and the events for what it was doing, then retry it',
  });
}
