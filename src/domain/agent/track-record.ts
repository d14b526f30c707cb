/** What came of an agent's work so far, by the agent's name. Folded from the history, and kept only as a cache of that. */
export interface TrackRecord {
  /** The latest outcomes, oldest first: `a`ccepted, `r`ejected (done, and no step towards the goal), `f`ailed. */
  recent: string;
  /** The latest tasks, newest last. */
  tasks: string[];
}

export type TrackRecords = Readonly<Record<string, TrackRecord>>;
