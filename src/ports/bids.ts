/**
 * Track records of agents and their earlier bids on equal tasks. Both are caches that may be
 * deleted.
 */
import type { Bid } from '../domain/task/bid.js';
import type { TrackRecords } from '../domain/agent/track-record.js';

export interface Bids {
  /** As of the last event. Reads only the events since the last call. */
  records(): TrackRecords;
  /** An earlier bid, by the key of task and agent. */
  known(key: string): Bid | undefined;
  /** Not durable. */
  keep(key: string, bid: Bid): void;
}
