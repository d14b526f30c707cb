/** Which agents a person has paused. A paused agent takes no task and starts no turn; what it is in the middle of ends its turn and is put back. */

export interface Pauses {
  /** Looks again at who is paused, and why; cheap when nobody is. */
  look(): ReadonlyMap<string, string>;
  /** As of the last look. */
  all(): ReadonlyMap<string, string>;
  /** Asked now, whatever the last look said. */
  isPaused(agent: string): boolean;
}
