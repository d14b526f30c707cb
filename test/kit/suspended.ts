/** A process that the system suspends in the middle of something, while others continue. */
import type { Disk } from '../../src/ports/disk.js';

const CALLS = ['read', 'readFrom', 'stamp', 'glance', 'list', 'rename', 'link', 'create', 'remove'] as const;

/** The disk of a process that is suspended before its n-th call; meanwhile `others` happens. */
export function suspended(disk: Disk, n: number, others: () => void): { disk: Disk; isOver(): boolean } {
  let calls = 0;
  const before = (): void => {
    if (++calls === n) others();
  };
  const slow: Record<string, unknown> = { ...disk };
  for (const name of CALLS)
    slow[name] = (...args: unknown[]) => {
      before();
      return (disk[name] as (...given: unknown[]) => unknown).apply(disk, args);
    };
  return { disk: slow as unknown as Disk, isOver: () => calls < n };
}
