/** One part of a task that is broken down: it becomes a child with role `part`. */
export interface Part {
  /** Its name among the parts. */
  key: string;
  description: string;
  type?: string;
  /** Who shall do it; absent: it is offered. */
  to?: string;
  requirements: string[];
  /** Keys of parts that must be completed first. */
  dependsOn: string[];
  /** It requires what no agent has yet, and its maker knows. */
  isNew: boolean;
}

/** The keys that a model named, as a JSON list; undefined if the text is none. */
export function readKeys(text: string): string[] | undefined {
  try {
    const named: unknown = JSON.parse(text);
    return Array.isArray(named) && named.every((key) => typeof key === 'string') ? named : undefined;
  } catch {
    return undefined;
  }
}

/** What a task with role `breakdown` was asked for, kept in its context: sorted once, so that every later look wants the same children. */
export interface Breakdown {
  parts: Part[];
  /** Key → the id of the task that does it, or `#key` of the part that does. */
  dropped: Record<string, string>;
  /** Key → the id of a task that may be doing it. */
  doubtful: Record<string, string>;
  /** Descriptions of the tasks in doubt. */
  known: Record<string, string>;
}
