/** What Linux tells of a process in `/proc/<pid>/stat`. */

export interface Living {
  pid: number;
  parent: number;
  group: number;
  /** With the pid it names one process for ever: pids come back, start times do not. */
  since: string;
  name: string;
}

/**
 * Undefined for one that has ended and only waits to be counted. After a kill the first thread is often gone (Z) while others
 * are still in a system call, and what they write arrives: it has ended when the last one has.
 */
export function parseStat(stat: string): Living | undefined {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')'); // the name may hold anything; what follows it is plain
  const fields = stat.slice(close + 2).split(' ');
  const isGone = fields[0] === 'Z' || fields[0] === 'X';
  if (isGone && Number(fields[17]) <= 1) return undefined;
  return {
    pid: Number(stat.slice(0, open)),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    since: fields[19]!,
    name: stat.slice(open + 1, close),
  };
}
