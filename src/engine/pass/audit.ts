/**
 * Hands what happened to history, a commit for each pass that changed something. No pass waits for it: while one commit is being
 * written, what happens meanwhile is collected for the next. Where history cannot be written, that is told once and work goes on.
 */
import type { Event } from '../../domain/event.js';
import { asProblem, type Problem } from '../../domain/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { History } from '../../ports/history.js';
import type { Audit } from '../core/context.js';
import { commitMessage } from '../../views/commit-message.js';

/** What a commit that cannot be written leaves for the next one. */
const MOST_KEPT = 1000;

export function audit(
  history: Pick<History, 'commit' | 'close'>,
  clock: Clock,
  tell: (problem: Problem) => void,
): Audit {
  let events: Event[] = [];
  let begun = clock.monotonicMs();
  let due = Infinity;
  let running: Promise<void> | undefined;
  let told: string | undefined;
  const closing = new AbortController();

  return {
    isKept: true,
    note: (event) => void events.push(event),
    passed(gapMs = 0) {
      if (events.length === 0) return;
      due = Math.min(due, begun + gapMs);
      running ??= run();
    },
    async close() {
      closing.abort();
      await running;
      if (events.length > 0) await commit();
      await history.close();
    },
  };

  async function run(): Promise<void> {
    while (due !== Infinity) {
      const wait = due - clock.monotonicMs();
      if (wait > 0) await clock.sleep(wait, closing.signal);
      if (closing.signal.aborted) break;
      due = Infinity;
      await commit();
    }
    running = undefined;
  }

  async function commit(): Promise<void> {
    begun = clock.monotonicMs();
    const batch = events;
    events = [];
    const { subject, body } = commitMessage(batch);
    try {
      await history.commit(subject, body, { evenIfSame: true });
      told = undefined;
    } catch (thrown) {
      events = [...batch, ...events].slice(-MOST_KEPT);
      const problem = asProblem(thrown);
      if (told !== problem.message) tell(problem);
      told = problem.message;
    }
  }
}
