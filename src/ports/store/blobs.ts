/** Large values, stored under the hash of their content. */
export interface Blobs {
  put(bytes: Uint8Array | string): Promise<string>;
  get(hash: string): Promise<Buffer | undefined>;
}
