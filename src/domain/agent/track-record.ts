/** The outcomes of an agent's past tasks, folded from the history and stored only as a cache. */
export interface TrackRecord {
  /**
   * The latest outcomes, oldest first: `a`ccepted, `r`ejected (did not advance the goal), `f`ailed.
   */
  recent: string;
  /** The latest tasks, newest last. */
  tasks: string[];
}

export type TrackRecords = Readonly<Record<string, TrackRecord>>;
