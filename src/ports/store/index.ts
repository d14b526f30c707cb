/**
 * The store: where tasks, conversations and events live, divided into small ports. The verbs come
 * from the domain, because a safe claim cannot be built on get and set. Each port has a contract
 * suite in `test/contract` that runs on every adapter.  Verbs that another machine could answer
 * return promises. Synchronous ones answer from this process's own memory, as of the last scan and
 * its own changes since.
 */
import type { Blobs } from './blobs.js';
import type { Effects } from './effects.js';
import type { Events } from './events.js';
import type { Intents } from './intents.js';
import type { Locks } from './locks.js';
import type { Presence } from './presence.js';
import type { Sessions } from './sessions.js';
import type { Tasks } from './tasks.js';
import type { Views } from './views.js';

export interface StorePorts {
  tasks: Tasks;
  sessions: Sessions;
  locks: Locks;
  effects: Effects;
  blobs: Blobs;
  intents: Intents;
  events: Events;
  presence: Presence;
  views: Views;
}

export interface StoreStats {
  /** The longest that a file had to wait for its place after it was recorded. */
  worstLagMs: number;
}

export interface Store extends StorePorts {
  /**
   * Makes everything done so far durable and visible under its names. With `visible: false` the
   * files may follow.
   */
  flush(options?: { visible?: boolean }): Promise<void>;
  /** Figures about this process since it opened the store. */
  stats(): StoreStats;
  /** Leaves: this peer's claims become orphans. */
  close(): Promise<void>;
}
