/**
 * Agents and tasks that a person has paused. A paused agent gets no task and starts no turn; a
 * running turn ends and its task is released. A running turn of a paused task is stopped.
 */

export interface Pauses {
  /** Reads the paused agents and the reasons. Cheap if nothing is paused. */
  look(): ReadonlyMap<string, string>;
  /** As of the last look. */
  all(): ReadonlyMap<string, string>;
  /** Reads the current state instead of using the last look. */
  isPaused(agent: string): boolean;
  /** Roots of paused tasks and the reasons, as of the last look. */
  tasks(): ReadonlyMap<string, string>;
  /** Reads the current state instead of using the last look. */
  isTaskPaused(root: string): boolean;
}
