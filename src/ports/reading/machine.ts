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
  /** Over one, five and fifteen minutes; undefined where the system does not count it. */
  load?: readonly [number, number, number];
  /** As far as this process may use it: a container may have less than the machine. */
  memory: Room;
  /** Of the file system with the workspace; undefined if it cannot be read. */
  disk?: Room;
  /** This process. */
  process: { memoryBytes: number; upMs: number };
}

export interface Machine {
  /** As it is now. Reads no file of the workspace and starts no program. */
  look(): MachineState;
}
