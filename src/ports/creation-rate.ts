/** How quickly trees grow, as every process of the workspace sees it. */
export interface CreationRate {
  /** How many tasks anybody made under this root since this time, as far as their lines of history are written; costs what was added since the last call. */
  madeSince(root: string, ms: number): number;
}
