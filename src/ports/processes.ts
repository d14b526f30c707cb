/** Which processes are alive. A port, so that a test can simulate the death of a process. */
import type { Peer } from '../domain/peer.js';

export type ProcessIdentity = Pick<Peer, 'host' | 'bootId' | 'pidNamespace' | 'pid' | 'startTime'>;

export interface Processes {
  me(): ProcessIdentity;
  /**
   * False only if this exact process has certainly ended. A paused process is alive, and so is one
   * that cannot be looked up from here (`whereabouts`).
   */
  isAlive(who: ProcessIdentity): boolean;
}
