/**
 * The Git history of the workspace, stored where agents cannot change it. Losing it loses no work,
 * and no work waits for it.
 */
export interface Commit {
  id: string;
  at: string;
  subject: string;
  body: string;
  /** The person whose change it is; absent for changes of the program. */
  by?: string;
}

/** A file that `undo` would restore, remove or change. */
export interface FileChange {
  path: string;
  change: 'brought back' | 'taken away' | 'changed';
  /** Only if asked for, and only of short text files. A missing file has an empty text. */
  texts?: { now: string; then: string };
}

/** A file as a commit has it. */
export interface OldContent {
  path: string;
  /** Absent: the commit does not have it. */
  bytes?: Buffer;
  /** As Git writes it: `100644`, `100755` or `120000`. */
  mode?: string;
}

export interface History {
  /** Whether history is kept here; if not, one sentence that says why. Read-only. */
  state(): { on: true } | { on: false; why: string };
  /**
   * Notes a file that the program is about to write, move or remove: an absolute path. If the
   * process is killed, the change is not mistaken for one that a person made. Never throws.
   */
  changing(file: string): void;
  /**
   * Notes a file that the program wrote, moved or removed: an absolute path. The next commit reads
   * it. Never throws. Files outside the workspace, secrets and private files are ignored.
   */
  changed(file: string): void;
  /**
   * Commits the noted files. If another process writes history at this moment, the list is left for
   * it. False if there was nothing to commit. `evenIfSame`: the message is worth a commit without a
   * changed file. Never runs hooks, pagers or filters. Throws a ProblemError if it cannot commit
   * now (no git, a full disk); the next commit then includes everything.
   */
  commit(subject: string, body: string, options?: { evenIfSame?: boolean }): Promise<boolean>;
  /** The process is about to end: long work is given up and left to the next process. */
  hurry(): void;
  /** Commits changes that other processes left and, at most once a minute, changes of people. */
  tend(): Promise<void>;
  /** Newest first. `task`: only commits that name it or a task below it. */
  log(options?: { limit?: number; task?: string }): Promise<Commit[]>;
  /**
   * The file changes that `undo` would make now; with `texts`, the first changes with both texts.
   * `left`: files that also differ but that an undo does not touch here. Throws a ProblemError for
   * an unknown commit.
   */
  changes(
    to: string,
    options?: { texts?: boolean },
  ): Promise<{ commit: Commit; files: FileChange[]; left: FileChange[] }>;
  /**
   * Restores files and tasks to a commit, as a new commit. Commits the current state first.
   * `restore`: brings the files to the store that the folder mirrors, and returns the files to
   * write here. If it throws, nothing is written.
   */
  undo(
    to: string,
    restore?: (files: OldContent[]) => Promise<OldContent[]>,
  ): Promise<{ commit: string; files: string[] }>;
  /**
   * Commits the remaining changes, including people's, if this object has committed before. Bounded
   * in time: a large first commit is continued by the next process. Resolves when no operation is
   * running.
   */
  close(): Promise<void>;
}
