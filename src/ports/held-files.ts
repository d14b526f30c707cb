/** Remembers across processes which held files have an event, so that each has one. */
import type { Problem } from '../domain/problem.js';

export interface HeldFiles {
  /**
   * Whether this problem of a file has no event yet. True again when the file has changed since.
   * Remembers it: the caller records the event now.
   */
  isNews(problem: Problem): boolean;
}
