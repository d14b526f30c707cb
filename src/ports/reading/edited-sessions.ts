/**
 * Notices conversations whose file changed, without reading them all: a person may have added a
 * message to an ended conversation, or a whole conversation.
 */
export interface EditedSessions {
  /**
   * Ids of conversations that end with a message of the person and whose file changed since they
   * were done, whichever process did that. Costs nothing while nothing changes.
   */
  look(): string[];
  /** Nothing is left to do for these; the others are returned again. Not durable. */
  done(ids: readonly string[]): void;
  /** Stops watching. */
  close(): void;
}
