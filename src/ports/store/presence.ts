/** Which processes work on this workspace, and how they wake each other. */
import type { Peer, Rank } from '../../domain/peer.js';

interface Pace {
  /** One look answers all rings within this time. */
  readonly settleMs: number;
  /** The shortest time between two looks while tasks are under way here. */
  readonly busyGapMs: number;
}

export interface Presence {
  readonly peer: Peer;
  /** Registers this peer, as its first claim does. Concurrent calls share one attempt. */
  join(): Promise<void>;
  /** Live peers, this one included once it has joined. */
  peers(): Promise<Peer[]>;
  /** Changes whenever a peer came or left, as far as this process knows. */
  version(): string;
  /** This peer's place among all. The first ones do work that one peer can do for all. */
  rank(): Rank;
  /** Wakes the other peers after a change that fired no watcher. */
  ringOthers(): void;
  /**
   * Calls back when something may have changed. Only a hint; a scan finds the truth. `workOnly`:
   * progress of other peers' tasks need not ring.
   */
  onRing(ring: () => void, options?: { workOnly?: boolean }): Promise<() => Promise<void>>;
  /** When this peer looks after a ring, so that not all peers look at once. */
  pace(): Pace;
  /** Removes leftovers of dead processes. */
  sweep(): Promise<void>;
}
