/**
 * The workspace as an agent's file tools see it: every path is judged, resolved and opened without a gap between the
 * check and the use. What policy answers is in `rules/policy`; this port says what a path really is, and acts.
 */
export type PathUse = 'read' | 'write' | 'list' | 'make_folder';

/** ok: go on · ask: a human must agree · refuse: never. `path` is relative to the workspace, every link resolved. */
export interface PathVerdict {
  verdict: 'ok' | 'ask' | 'refuse';
  reason: string;
  path?: string;
}

export type FolderReply<T> = { ok: true; value: T } | { ok: false; reason: string };

export interface FoundLine {
  path: string;
  line: number;
  text: string;
  score: number;
}

export interface Folder {
  /** Same path, same verdict; never throws and never hangs, whatever lies there. */
  judge(agent: string, use: PathUse, path: string): PathVerdict;
  /** Judges again, then reads at most `maxBytes` of a regular UTF-8 file. */
  read(agent: string, path: string, maxBytes: number): FolderReply<{ text: string; bytes: number; cut: boolean }>;
  /** Whole file, replaced at once: a reader sees the old or the new. Durable when resolved. `allowed`: a human agreed to an `ask`. */
  write(
    agent: string,
    path: string,
    text: string,
    allowed?: boolean,
  ): Promise<FolderReply<{ bytes: number; created: boolean }>>;
  list(agent: string, path: string): FolderReply<{ name: string; kind: 'file' | 'folder' | 'other'; bytes: number }[]>;
  makeFolder(agent: string, path: string, allowed?: boolean): Promise<FolderReply<{ created: boolean }>>;
  /** Lines that fit the words of the query best, best first; secrets and private folders are never searched. */
  search(agent: string, query: string, options: { under?: string; limit: number }): Promise<FolderReply<FoundLine[]>>;
}
