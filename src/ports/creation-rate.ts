/** How fast trees grow, counted across all processes of the workspace. */
export interface CreationRate {
  /** Tasks created under this root since `ms`. Reads only the events since the last call. */
  madeSince(root: string, ms: number): number;
}
