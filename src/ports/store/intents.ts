/** Requests of people and surfaces to the engine. */
import type { Intent } from '../../domain/task/intent.js';

export interface Intents {
  submit(intent: Intent): Promise<void>;
  /**
   * In order of arrival. An intent stays until `done`: a crash in between repeats it, so acting on
   * an intent twice must be harmless. `maxAgeMs`: the answer may be this old; absent: read now.
   */
  list(options?: { maxAgeMs?: number }): Promise<Intent[]>;
  done(id: string): Promise<void>;
}
