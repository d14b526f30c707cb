/** Writes what people see once work has ended or paused: ballot, boards, states and history. */
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
}

interface Sources {
  publisher: Pick<StatePublisher, 'publish'>;
  stuckWork: Pick<Stuck, 'report'>;
}

/** `onFailure`: called if something cannot be written that no caller waits for. */
export function wrapUp(
  context: EngineContext,
  { publisher, stuckWork }: Sources,
  onFailure: (thrown: unknown) => void,
): WrapUp {
  let running = false;
  let isAskedAgain = false;
  return {
    async wrapUp() {
      await showBallot(context, false);
      await showBoards(context, true);
      isAskedAgain = true;
      if (!running) publishAndCommit().catch(onFailure);
    },
    async tidy() {
      await stuckWork.report();
      await showBallot(context, true);
      await showBoards(context, true);
      await publisher.publish();
      await context.flush();
      context.audit.passed();
    },
  };

  /** Runs that end meanwhile share the next round. */
  async function publishAndCommit(): Promise<void> {
    running = true;
    try {
      while (isAskedAgain) {
        isAskedAgain = false;
        await stuckWork.report();
        await publisher.publish();
        await context.flush({ visible: false });
        if (!context.audit.isKept) continue;
        await context.flush();
        context.audit.passed();
      }
    } finally {
      running = false;
    }
  }
}
