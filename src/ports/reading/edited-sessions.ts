/**
 * Notices conversations whose file changed, without reading them all: a person may have added a
 * message to an ended conversation, or a whole conversation.
 */
import type { Session } from '../../domain/session/session.js';

export interface EditedSessions {
  /**
   * Ids of conversations that end with a message of the person and whose file changed since the
   * last `done` of any process. Costs nothing while nothing changes. `known`: the conversation if
   * its file with this stamp need not be read.
   */
  look(known: (id: string, stamp: string) => Session | undefined): string[];
  /** These conversations are handled; others are returned again. Not durable. */
  done(ids: readonly string[]): void;
  /** Stops watching and saves the mark: the next process need not look at the same files. */
  close(): void;
}
