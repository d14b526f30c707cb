/** The taint of files: the outside sources that influenced whoever wrote them. */

export interface FileTaint {
  /** The taint of the file as it is now; empty if none is known. */
  of(path: string): string[];
  /** A tool of a task with this taint wrote the file. */
  wrote(path: string, taint: readonly string[]): void;
  /** A command of a task with this taint may have written anything in the agent's folder. */
  ran(agent: string, taint: readonly string[]): void;
}
