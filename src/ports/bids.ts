/** What weighing bids needs beside the bids: how agents did so far, and what they said to an equal task before. Both are caches that may be deleted. */
import type { Bid } from '../domain/task/bid.js';
import type { TrackRecords } from '../domain/agent/track-record.js';

export interface Bids {
  /** As of the last line of history; costs what was added since the last call. */
  records(): TrackRecords;
  /** A bid on an equal task, by the key of that task and agent. */
  known(key: string): Bid | undefined;
  /** Not durable. */
  keep(key: string, bid: Bid): void;
}
