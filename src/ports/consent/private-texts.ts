/** Results of secret reads: they stay on this machine, out of history and of agents' sight. */

export interface PrivateTexts {
  /** Returns the sha256 of the text or of the bytes. Durable when resolved. */
  put(text: string | Uint8Array): Promise<string>;
  /** Undefined on a machine that does not have it. */
  get(sha256: string): Buffer | undefined;
}
