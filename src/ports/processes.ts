/** Which processes live. Behind a port so that a test can let one die without ending itself. */
import type { Peer } from '../domain/peer.js';

export type ProcessIdentity = Pick<Peer, 'host' | 'bootId' | 'pid' | 'startTime'>;

export interface Processes {
  me(): ProcessIdentity;
  /** False only when it is certain that this very process has ended; a paused one lives. */
  isAlive(who: ProcessIdentity): boolean;
}
