/** The machine that this process runs on, for the tool `system_status`. */

interface Room {
  freeBytes: number;
  totalBytes: number;
}

export interface MachineState {
  /** `Linux`. */
  system: string;
  processors: number;
  upMs: number;
  /** Load averages over one, five and fifteen minutes; undefined if the system has none. */
  load?: readonly [number, number, number];
  /** The memory that this process may use; a container may have less than the machine. */
  memory: Room;
  /** The file system that holds the workspace; undefined if it cannot be read. */
  disk?: Room;
  /** This process. */
  process: { memoryBytes: number; upMs: number };
}

export interface Machine {
  /** As it is now. Reads no file of the workspace and starts no program. */
  look(): MachineState;
}
