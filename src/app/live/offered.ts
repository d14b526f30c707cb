/** Passes the reports of the engine to its watchers and to other processes. */
import { offerProgress } from '../../adapters/live-progress/index.js';
import type { Env } from '../../domain/config/env.js';
import type { Watchers } from '../../engine/core/context.js';
import { realPath } from './follow-turns.js';

interface Offered extends Watchers {
  /** Hides the turns of this process from other processes from now on. */
  withdraw(): void;
}

interface Place {
  root: string;
  env: Env;
  peer: string;
}

/** `isReal`: the workspace is on a real disk and works live. */
export function offered(watchers: Watchers, { root, env, peer }: Place, isReal: boolean): Offered {
  if (!isReal) return { ...watchers, withdraw() {} };
  const offer = offerProgress({ root: realPath(root), env, peer });
  return {
    ...watchers,
    progress(progress) {
      watchers.progress(progress);
      offer.progress(progress);
    },
    event(event) {
      watchers.event(event);
      offer.event(event);
    },
    withdraw: offer.close,
  };
}
