/** Caches, safe to delete: track records of agents and their earlier bids on equal tasks. */
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
