/** Writes what people see once work has ended or paused: ballot, boards, states and history. */
import { INTERVALS } from '../../domain/intervals.js';
import { showBallot } from '../approvals/ballot-view.js';
import type { EngineContext } from '../core/context.js';
import { showBoards } from '../intake/boards.js';
import type { StatePublisher } from './publish-states.js';
import type { Stuck } from './stuck.js';

interface WrapUp {
  /** Does not wait for states and history. */
  wrapUp(): Promise<void>;
  /** Waits until everything is on disk. */
  tidy(): Promise<void>;
  /** Resolves when nothing that `wrapUp` started is left to do. */
  wrappedUp(): Promise<void>;
}

interface Sources {
  publisher: Pick<StatePublisher, 'publish' | 'dueInMs'>;
  stuckWork: Pick<Stuck, 'report'>;
}

/** Runs that end within this time share their final work, such as a sync of their last events. */
const ROUND_MS = 50;

/** `onFailure`: called if something cannot be written that no caller waits for. */
export function wrapUp(
  context: EngineContext,
  { publisher, stuckWork }: Sources,
  onFailure: (thrown: unknown) => void,
): WrapUp {
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let hurry = new AbortController();
  return {
    async wrapUp() {
      await showBallot(context, false);
      await showBoards(context, true);
      isAskedAgain = true;
      running ??= publishAndCommit()
        .catch(onFailure)
        .finally(() => (running = undefined));
    },
    async tidy() {
      await stuckWork.report();
      await showBallot(context, true);
      await showBoards(context, true);
      await publisher.publish();
      await finishBallot(context);
      await context.flush();
      context.audit.passed();
    },
    async wrappedUp() {
      hurry.abort();
      await running;
      hurry = new AbortController();
    },
  };

  async function publishAndCommit(): Promise<void> {
    while (isAskedAgain) {
      await stuckWork.report();
      const waitMs = publisher.dueInMs();
      if (waitMs === 0) await publisher.publish();
      await context.clock.sleep(Math.max(waitMs ?? 0, ROUND_MS), hurry.signal);
      isAskedAgain = false;
      if (waitMs) await publisher.publish();
      await context.flush({ visible: false });
      context.audit.passed();
    }
  }
}

/** The ballot is not written while a person may be saving it. Waits for them, but not for ever. */
async function finishBallot(context: EngineContext): Promise<void> {
  const { ballot, clock } = context;
  const end = clock.monotonicMs() + INTERVALS.ballotPatienceMs;
  while (ballot.dueMs('read') === undefined && clock.monotonicMs() < end) {
    const waitMs = ballot.dueMs('write');
    if (waitMs === undefined) return;
    await clock.sleep(waitMs);
    await showBallot(context, true);
  }
}
