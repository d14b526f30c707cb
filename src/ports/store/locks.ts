/**
 * Locks held by tasks: the turn in a shared conversation, and named resources. A task keeps a lock
 * until it releases it or ends, however often it is parked.
 */
export interface Locks {
  /** True if this task holds the lock now. Unless durable, a power cut may release it. */
  acquire(key: string, task: string, options?: { durable?: boolean }): Promise<boolean>;
  /** Releases the lock early. Does nothing if another task holds it. Not durable. */
  release(key: string, task: string): Promise<void>;
  /** The open task that holds the lock. Undefined: the next to ask gets it. */
  holder(key: string): Promise<string | undefined>;
}
