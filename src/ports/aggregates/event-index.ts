/**
 * Reads the event log without parsing each line. The index behind it is a cache; the log is the
 * source of truth.
 */
import type { CallCost, Event } from '../../domain/event.js';

export interface EventIndex {
  look(): EventsSeen;
}

/** Past events, oldest first. */
export interface EventHistory {
  /** Model calls, and tool calls that were made; with `since` those from that ISO time on. */
  calls(since?: string): Iterable<CallSeen>;
  /** The events that say where a task is in the tree. */
  lineage(): Iterable<Pick<Event, 'task' | 'parent' | 'root'>>;
  /** Reads the events that are wanted by name and task. */
  events(isWanted: (name: string, task: string | undefined) => boolean, which?: WhichEvents): Event[];
}

/** A snapshot of the log. */
export interface EventsSeen extends EventHistory {
  readonly size: number;
  /** The keys of all events, in the order of their first appearance. */
  columns(): string[];
  /**
   * All events. Each row has at least those of these keys that its event has. A line is parsed only
   * for a value that the index lacks.
   */
  rows(keys: readonly string[]): Iterable<EventRow>;
  /** The number of bytes seen of each file of the log. */
  ends(): ReadonlyMap<string, number>;
}

interface WhichEvents {
  /** At most this many, the newest. */
  limit?: number;
  /** Only events from this ISO time on. */
  since?: string;
}

export interface EventRow {
  row: Record<string, unknown>;
  read(): Record<string, unknown>;
}

/** A text field is undefined if the line does not have it. */
export interface CallSeen extends CallCost {
  at: string;
  kind: 'model' | 'tool';
  task: string | undefined;
  agent: string | undefined;
  model: string | undefined;
  role: string | undefined;
}
