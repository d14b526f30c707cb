/**
 * The workspace as an agent's file tools see it. Every path is judged, resolved and opened without
 * a gap between check and use. `rules/policy` decides; this port resolves paths and acts.
 */
import type { ProblemCode } from '../domain/problem.js';
import type { BoundBase } from '../domain/task/approval.js';

export type PathUse = 'read' | 'write' | 'list' | 'make_folder';

/**
 * ok: allowed · ask: needs approval · refuse: never. `path`: within the workspace, links resolved.
 */
export interface PathVerdict {
  verdict: 'ok' | 'ask' | 'refuse';
  reason: string;
  path?: string;
}

/**
 * `code` classifies the refusal: `needs_human`, `not_allowed`, `not_found`, `over_limit`,
 * `bad_file` or `disk_failed`.
 */
export type FolderReply<T> = { ok: true; value: T } | { ok: false; reason: string; code?: ProblemCode };

export interface FoundLine {
  path: string;
  line: number;
  text: string;
  score: number;
}

export interface WorkspaceFiles {
  /** Deterministic for a path. Never throws and never hangs, whatever kind of file it is. */
  judge(agent: string, use: PathUse, path: string): PathVerdict;
  /** Judges again, then reads at most `maxBytes` of a regular UTF-8 file. */
  read(
    agent: string,
    path: string,
    maxBytes: number,
    allowed?: boolean,
  ): FolderReply<{ text: string; bytes: number; cut: boolean }>;
  /** Judges again, then reads an image or a PDF document; undefined if the file is neither. */
  readMedia(
    agent: string,
    path: string,
    maxBytes: number,
    allowed?: boolean,
  ): FolderReply<{ mediaType: string; data: Uint8Array } | undefined>;
  /** The file at this path as a write would replace it; undefined if it cannot be read. */
  baseOf(path: string): BoundBase | undefined;
  /**
   * Replaces the file atomically. Durable when resolved. `allowed`: a human approved an `ask`.
   * `base`: refuses if the file to replace is no longer this one.
   */
  write(
    agent: string,
    path: string,
    text: string,
    allowed?: boolean,
    base?: BoundBase,
  ): Promise<FolderReply<{ bytes: number; created: boolean }>>;
  list(agent: string, path: string): FolderReply<{ name: string; kind: 'file' | 'folder' | 'other'; bytes: number }[]>;
  makeFolder(agent: string, path: string, allowed?: boolean): Promise<FolderReply<{ created: boolean }>>;
  /** Best matching lines first. Secrets and private folders are never searched. */
  search(
    agent: string,
    query: string,
    options: { under?: string; limit: number },
  ): Promise<FolderReply<FoundLine[]> & { note?: string }>;
}

/** A file to search. `text` returns undefined if it is not text, too big, or missing. */
export interface SearchFile {
  path: string;
  text(): string | undefined;
}

/** Ranks lines of files. `note` is one sentence on what was left out or is missing. */
export type Search = (
  query: string,
  files: Iterable<SearchFile>,
  options: { limit: number },
) => Promise<{ found: FoundLine[]; note?: string }>;
