/**
 * The workspace as an agent's file tools see it: every path is judged, resolved and opened without a gap between the
 * check and the use. What policy answers is in `rules/policy`; this port says what a path really is, and acts.
 */
import type { ProblemCode } from '../domain/problem.js';

export type PathUse = 'read' | 'write' | 'list' | 'make_folder';

/** ok: go on · ask: a human must agree · refuse: never. `path` is relative to the workspace, every link resolved. */
export interface PathVerdict {
  verdict: 'ok' | 'ask' | 'refuse';
  reason: string;
  path?: string;
}

/** `code` says what kind of no it is: `needs_human`, `not_allowed`, `not_found`, `over_limit`, `bad_file` or `disk_failed`. */
export type FolderReply<T> = { ok: true; value: T } | { ok: false; reason: string; code?: ProblemCode };

export interface FoundLine {
  path: string;
  line: number;
  text: string;
  score: number;
}

export interface WorkspaceFiles {
  /** Same path, same verdict; never throws and never hangs, whatever lies there. */
  judge(agent: string, use: PathUse, path: string): PathVerdict;
  /** Judges again, then reads at most `maxBytes` of a regular UTF-8 file. */
  read(
    agent: string,
    path: string,
    maxBytes: number,
    allowed?: boolean,
  ): FolderReply<{ text: string; bytes: number; cut: boolean }>;
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
  search(
    agent: string,
    query: string,
    options: { under?: string; limit: number },
  ): Promise<FolderReply<FoundLine[]> & { note?: string }>;
}

/** One file that a search may look into; `text` is undefined if it is no text, too big, or gone. */
export interface SearchFile {
  path: string;
  text(): string | undefined;
}

/** Ranks lines of files. `note` is one sentence for the reader: what was left out, or what is missing. */
export type Search = (
  query: string,
  files: Iterable<SearchFile>,
  options: { limit: number },
) => Promise<{ found: FoundLine[]; note?: string }>;
