/**
 * History at a desk. The commits of the mirrored folder have the same messages as if the work were
 * done in it, because the mirror receives every event. Nothing waits for a commit.
 */
import { clock as realClock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import type { Env } from '../../domain/config/env.js';
import type { Event } from '../../domain/event.js';
import { INTERVALS } from '../../domain/intervals.js';
import { asProblem, problem as problemOf, ProblemError, type Problem } from '../../domain/problem.js';
import { audit } from '../../engine/pass/audit.js';
import type { History } from '../../ports/history.js';
import { history as openHistory } from '../readers/history.js';
import { readConfig } from '../readers/read-config.js';

export interface DeskHistory extends Pick<History, 'changing' | 'changed'> {
  happened(event: Event): void;
  /** The folder shows the store for the first time in this process. */
  begin(): Promise<void>;
  /** The mirror has looked: the noted events go into the next commit. */
  looked(): void;
  /** Commits the rest. */
  close(): Promise<void>;
}

/** Throws a ProblemError if no history can be kept here. */
export function deskHistory(root: string, env: Env, report: (problem: Problem) => void): DeskHistory {
  const { config } = readConfig(disk(), root, env);
  const clock = realClock();
  const history = openHistory({ root, config, env, clock, background: true });
  const state = history.state();
  if (!state.on) throw new ProblemError(problemOf('bad_usage', `no history can be kept in this folder: ${state.why}`));
  const trail = audit(history, clock, report);
  // Commits people's changes and what an undo left for this process. A failure is not reported
  // here, because the next commit fails for the same reason and reports it.
  const timer = setInterval(() => void history.tend().catch(() => undefined), INTERVALS.historyCheckMs).unref();
  return {
    changing: history.changing,
    changed: history.changed,
    happened(event) {
      // An undo makes its own commit.
      if (event.name !== 'workspace.undone') trail.note(event);
    },
    async begin() {
      try {
        await history.commit('shown from the store', 'changes since guild sync --history ran here last');
      } catch (thrown) {
        report(asProblem(thrown));
      }
    },
    looked: trail.passed,
    async close() {
      clearInterval(timer);
      await trail.close();
    },
  };
}
