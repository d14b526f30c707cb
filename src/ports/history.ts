/**
 * The Git history of the workspace, stored where agents cannot change it: one commit for each pass
 * that changed something. Losing it loses no work, and no pass waits for it.
 */
export interface Commit {
  id: string;
  at: string;
  subject: string;
  body: string;
}

/** A file that `undo` would restore, remove or change. */
export interface FileChange {
  path: string;
  change: 'brought back' | 'taken away' | 'changed';
}

export interface History {
  /** Whether history is kept here; if not, one sentence that says why. Read-only. */
  state(): { on: true } | { on: false; why: string };
  /**
   * Commits all changes in the workspace. False if there are none or history is off. Never runs
   * hooks, pagers or filters. `evenIfSame`: commit the message even if another process already
   * committed the files. Throws a ProblemError if it cannot commit now (a merge is in progress, the
   * disk is full); the next commit then includes everything.
   */
  commit(subject: string, body: string, options?: { evenIfSame?: boolean }): Promise<boolean>;
  /** Newest first. `task`: only commits that name it or a task below it. */
  log(options?: { limit?: number; task?: string }): Promise<Commit[]>;
  /** The file changes that `undo` would make now. Throws a ProblemError for an unknown commit. */
  changes(to: string): Promise<{ commit: Commit; files: FileChange[] }>;
  /** Restores files and tasks to a commit, as a new commit. Commits the current state first. */
  undo(to: string): Promise<{ commit: string; files: string[] }>;
  /** Resolves when no operation is running. */
  close(): Promise<void>;
}
