/**
 * The workspace's history, kept outside of what agents may touch: one line of commits, one for each pass that changed something.
 * It is a witness, not the store: losing it loses no work, and no pass waits for it.
 */
export interface Commit {
  id: string;
  at: string;
  subject: string;
  body: string;
}

/** A file that going back to a commit would bring back, take away or change. */
export interface FileChange {
  path: string;
  change: 'brought back' | 'taken away' | 'changed';
}

export interface History {
  /** Whether history is kept here; if not, one sentence that says why. Looks, changes nothing. */
  state(): { on: true } | { on: false; why: string };
  /**
   * Commits whatever changed in the workspace; false if nothing did, or history is off. Never runs hooks, pagers or filters.
   * `evenIfSame`: the message is kept also when another process has committed the files already. Throws a ProblemError when
   * it cannot be done now (a merge is under way, the disk is full); nothing is lost then, the next commit has it all.
   */
  commit(subject: string, body: string, options?: { evenIfSame?: boolean }): Promise<boolean>;
  /** Newest first. `task`: only commits that name it or something under it. */
  log(options?: { limit?: number; task?: string }): Promise<Commit[]>;
  /** What `undo` would do to files, as things stand. Throws a ProblemError for a commit that is not in this history. */
  changes(to: string): Promise<{ commit: Commit; files: FileChange[] }>;
  /** Brings files and tasks back to a commit, as a new commit. What lies there now is committed first. */
  undo(to: string): Promise<{ commit: string; files: string[] }>;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}
