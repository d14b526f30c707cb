/** Parses `/proc/<pid>/stat` of Linux. */

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** Start time. Together with the pid it identifies a process, because pids are reused. */
  since: string;
  name: string;
}

/**
 * Undefined for a process that has ended. After a kill the first thread is often a zombie (Z) while
 * others are still in a system call and may write, so the process has ended only with its last
 * thread.
 */
export function parseStat(stat: string): ProcessEntry | undefined {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')'); // the name may contain anything; the rest may not
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
