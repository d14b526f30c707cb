/** Side effects: a record before, an outcome after, so that nothing is silently done twice. */
import type { Outcome } from '../../domain/task/outcome.js';

export type Effect =
  | { state: 'none' }
  | { state: 'started'; digest: string; at: string }
  | { state: 'done'; digest: string; outcome: Outcome };

export interface Effects {
  get(id: string): Promise<Effect>;
  /** False if the effect was started before, by any process. */
  begin(id: string, digest: string, what: string): Promise<boolean>;
  finish(id: string, outcome: Outcome): Promise<void>;
}
