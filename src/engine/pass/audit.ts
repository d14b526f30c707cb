/**
 * Commits events to history every few seconds while something changes, and at the end. No pass
 * waits for a commit: events that happen meanwhile go into the next one. A failure is reported once
 * and work continues.
 */
import type { Event } from '../../domain/event.js';
import { INTERVALS } from '../../domain/intervals.js';
import { asProblem, type Problem } from '../../domain/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { History } from '../../ports/history.js';
import type { Audit } from '../core/context.js';
import { commitMessage } from '../../views/commit-message.js';

/** Events that a failed commit leaves for the next one. */
const MAX_KEPT = 1000;

export function audit(
  history: Pick<History, 'commit' | 'hurry' | 'close'>,
  clock: Clock,
  onProblem: (problem: Problem) => void,
  gapMs: number = INTERVALS.commitGapMs,
): Audit {
  let events: Event[] = [];
  let lastStart = clock.monotonicMs();
  let due = Infinity;
  let running: Promise<void> | undefined;
  let reported: string | undefined;
  const closing = new AbortController();

  return {
    note: (event) => void events.push(event),
    passed() {
      if (events.length === 0) return;
      due = Math.min(due, lastStart + gapMs);
      running ??= run();
    },
    async close() {
      closing.abort();
      history.hurry();
      await running;
      if (events.length > 0) await commit();
      await history.close().catch(report);
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
    lastStart = clock.monotonicMs();
    const batch = events;
    events = [];
    const { subject, body } = commitMessage(batch);
    try {
      await history.commit(subject, body, { evenIfSame: true });
      reported = undefined;
    } catch (thrown) {
      events = [...batch, ...events].slice(-MAX_KEPT);
      report(thrown);
    }
  }

  function report(thrown: unknown): void {
    const problem = asProblem(thrown);
    if (reported !== problem.message) onProblem(problem);
    reported = problem.message;
  }
}
