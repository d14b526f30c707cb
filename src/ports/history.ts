/** The workspace's history, kept outside of what agents may touch: one writer, a commit for each pass that changed something. */
export interface Commit {
  id: string;
  at: string;
  subject: string;
  body: string;
}

export interface History {
  /** Commits whatever changed in the workspace; false if nothing did, or history is off. Never runs hooks, pagers or filters. */
  commit(subject: string, body: string): Promise<boolean>;
  log(options?: { limit?: number; task?: string }): Promise<Commit[]>;
  /** Brings files and tasks back to a commit, as a new commit. */
  undo(to: string): Promise<{ commit: string; files: string[] }>;
}
