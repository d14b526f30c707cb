/** The event log: one line for each change, with its cause. */
import type { Event } from '../../domain/event.js';

export interface Events {
  /** Survives a crash of the process at once, and a power cut after the next flush. */
  append(event: Event): void;
  list(options?: { task?: string; limit?: number }): Promise<Event[]>;
}
