/** Files for people. Nothing reads them back. */
export interface Views {
  /** Replaces the file at a workspace path as a whole. Not durable. */
  write(path: string, text: string): void;
}
