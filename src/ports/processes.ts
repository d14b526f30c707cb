/** Which processes are alive. A port, so that a test can simulate the death of a process. */
import type { Peer } from '../domain/peer.js';

export type ProcessIdentity = Pick<Peer, 'host' | 'bootId' | 'pid' | 'startTime'>;

export interface Processes {
  me(): ProcessIdentity;
  /** False only if this exact process has certainly ended; a paused process is alive. */
  isAlive(who: ProcessIdentity): boolean;
}
