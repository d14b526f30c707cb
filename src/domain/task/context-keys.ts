/**
 * Keys of a task's context that only the program sets. A prompt does not show them, a caller may
 * not pass them on, and a field of a board with such a name is not context.
 */
export const PROGRAM_KEYS: readonly string[] = [
  'taint',
  'received',
  'request',
  'mail',
  'draft',
  'breakdown',
  'dependency',
  'help',
  'forked_from',
  'follows',
  'first_request',
  'asker_session',
];
