/**
 * Remembers across processes which unreadable files have been reported, so that each gets one
 * event.
 */
import type { Problem } from '../domain/problem.js';

export interface HeldFiles {
  /**
   * Whether this problem of a file has no event yet, or the file has changed since. Remembers the
   * problem: the caller records the event now.
   */
  isNews(problem: Problem): boolean;
}
