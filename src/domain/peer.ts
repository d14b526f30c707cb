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

/** A process's place among those that run, by name, from 0, and how many they are. */
export interface Rank {
  rank: number;
  of: number;
}

/** So many processes can each look after themselves without anybody noticing what it costs. */
const FEW = 8;
/** Of more, so many look after all: one may be paused, another may have died just now. */
export const WARDENS = 3;

export const isFew = ({ of }: Rank): boolean => of <= FEW;

/** Whether it looks for what made no sound (a process that died, an event that was lost); the others sleep meanwhile. */
export function isWarden(one: Rank): boolean {
  return isFew(one) || one.rank < WARDENS;
}

/** How many times longer than a warden it may wait between two looks: however many the others are, together they look as often as one warden. */
export function patience(one: Rank): number {
  return isWarden(one) ? 1 : one.of;
}
