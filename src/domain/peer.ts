/** A running process that hosts agents. It is alive while this very process lives: same machine boot, pid and start time. */
export interface Peer {
  id: string;
  host: string;
  bootId: string;
  pid: number;
  /** When the process started, in the system's own unit; tells a reused pid from the old process. */
  startTime: string;
  /** Agents it hosts; empty: all of the workspace. */
  agents: string[];
  since: string;
}
