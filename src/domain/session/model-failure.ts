/**
 * The classes of failed model calls. The class decides the next step: wait, try the next model,
 * shorten, or ask a person.
 */
const CLASSES = {
  auth: 'the API key is missing or wrong',
  quota: 'a paid limit is reached',
  rate: 'too many calls at the moment',
  context: 'the conversation is too long',
  refused: 'the provider refuses to answer',
  garbage: 'the answer is not valid',
  cut_off: 'the stream broke or stalled',
  unreachable: 'there is no connection, or the server failed',
  unknown_model: 'the provider does not know the model',
  stale_thoughts: 'the provider no longer accepts thoughts of earlier answers',
  aborted: 'the program stopped the call',
  unscripted: 'the script has no line for this call',
} as const;

export type ModelFailureClass = keyof typeof CLASSES;
export const MODEL_FAILURES = Object.keys(CLASSES) as [ModelFailureClass, ...ModelFailureClass[]];
