/**
 * The content that consent is bound to: the files that an action names, and folders that agents can
 * write. A snapshot is a digest; its texts are kept for a while, to show what changed since.
 */
import type { BoundContent } from '../../domain/task/approval.js';

export interface ContentUse {
  /** Words of the line that may name files, and the folders they may be relative to. */
  words: string[];
  folders: string[];
  /** The words that may name a folder whose whole content is used. */
  trees?: string[];
  /** The action may run or load whatever agents can write. */
  interprets: boolean;
}

export interface ContentBinding {
  /** Reads for a limited time. Files that could not be read in time are reported as not bound. */
  bind(use: ContentUse): Promise<BoundContent>;
  /** Describes the changes between two snapshots of the same use, for people. */
  changes(before: BoundContent, after: BoundContent): string;
}
