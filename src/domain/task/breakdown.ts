/** A part of a breakdown. It becomes a child with role `part`. */
import { attempt } from '../attempt.js';

export interface Part {
  /** Its name among the parts. */
  key: string;
  description: string;
  type?: string;
  /** The agent that does it; absent: it is offered. */
  to?: string;
  requirements: string[];
  /** Keys of parts that must be completed first. */
  dependsOn: string[];
  /** The part deliberately requires a capability that no agent has yet. */
  isNew: boolean;
}

/** The keys that a model named, as a JSON list; undefined for any other text. */
export function readKeys(text: string): string[] | undefined {
  const keys: unknown = attempt(() => JSON.parse(text));
  return Array.isArray(keys) && keys.every((key) => typeof key === 'string') ? keys : undefined;
}

/**
 * The context of a task with role `breakdown`. It is sorted once, so that every pass wants the same
 * children.
 */
export interface Breakdown {
  parts: Part[];
  /** Key → the id of the task that does it, or `#key` of the part that does. */
  dropped: Record<string, string>;
  /** Key → the id of a task that may be doing it. */
  doubtful: Record<string, string>;
  /** Descriptions of the tasks in doubt. */
  known: Record<string, string>;
}
