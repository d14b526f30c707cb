/** The taint of files: the outside sources that influenced whoever wrote them. */

export interface FileTaint {
  /** The taint of the file as it is now; empty if none is known. */
  of(path: string): string[];
  /** The taint of all files below a folder. `path`: in the workspace, with links resolved. */
  below(path: string): string[];
  /**
   * Call it before a tool of a task with this taint writes the file: then there is no moment in
   * which a crash leaves the file without its taint. Durable when it returns.
   */
  writes(path: string, content: string | Uint8Array, taint: readonly string[]): void;
  /**
   * Call it before a command of a task with this taint runs: it may write anything in the agent's
   * folder. Durable when it returns.
   */
  runs(agent: string, taint: readonly string[]): void;
}
