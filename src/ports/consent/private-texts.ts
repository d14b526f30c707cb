/** Results of secret reads: they stay on this machine, out of history and of agents' sight. */

export interface PrivateTexts {
  /** Returns the sha256 of the text. Durable when resolved. */
  put(text: string): Promise<string>;
  /** Undefined on a machine that does not have it. */
  get(sha256: string): string | undefined;
}
