/**
 * A running process that hosts agents. Boot id, pid namespace, pid and start time identify it, so
 * a process that reuses the pid is not mistaken for it.
 */
export interface Peer {
  id: string;
  host: string;
  bootId: string;
  /** Where the pid is valid, such as one container. Absent if the system has no such namespaces. */
  pidNamespace?: string;
  pid: number;
  /** The start of the process, in the system's own unit. */
  startTime: string;
  /** The agents it hosts; empty for all of the workspace. */
  agents: string[];
  since: string;
  /** Why it takes no work; absent if it does. Only on a store that several machines share. */
  held?: string;
}

type Place = Pick<Peer, 'host' | 'bootId' | 'pidNamespace'>;

/**
 * Whether the pid of another process can be looked up from here. `gone`: it ran before this machine
 * started; the host name is not compared, because every new container has a new name. `elsewhere`:
 * it runs or ran on this machine where its pid means something else, so nobody here can tell.
 */
export function whereabouts(other: Place, me: Place): 'here' | 'elsewhere' | 'gone' {
  if (other.bootId !== me.bootId) return 'gone';
  const isNamed = other.pidNamespace !== undefined && me.pidNamespace !== undefined;
  const isHere = isNamed ? other.pidNamespace === me.pidNamespace : other.host === me.host;
  return isHere ? 'here' : 'elsewhere';
}

/** The position of a process among all running ones, by name and from 0, and their number. */
export interface Rank {
  rank: number;
  of: number;
}

/** Up to this many processes, the cost of each one checking all others is negligible. */
const FEW = 8;
/**
 * Among more processes, this many check for all: one may be paused, and another may just have died.
 */
export const WARDENS = 3;

export const isFew = ({ of }: Rank): boolean => of <= FEW;

/** Whether the process checks for dead processes and lost events. All other processes sleep. */
export function isWarden(rank: Rank): boolean {
  return isFew(rank) || rank.rank < WARDENS;
}

/**
 * The factor by which a process stretches its interval between checks. All processes that are not
 * wardens together check as often as one warden.
 */
export function patience(rank: Rank): number {
  return isWarden(rank) ? 1 : rank.of;
}
