/**
 * What live processes have in hand for one agent, as the folder says now and not as it was at the last scan. A claim is a rename, which the file
 * system stamps with its time: of two claims the later one is made by somebody who can already see the earlier.
 */
import { roleFacts } from '../../domain/task/role.js';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Hold } from '../../ports/store/tasks.js';
import { parseClaimName, type Layout } from './base/layout.js';
import type { OpenTasks } from './open-tasks.js';
import type { Shelves } from './task-lookup.js';

interface Parts {
  disk: Disk;
  l: Layout;
  tasks: OpenTasks;
  lying: Pick<Shelves, 'read'>;
  isAlive: (peer: string) => boolean;
}

export function claimsFor({ disk, l, tasks, lying, isAlive }: Parts, agent: string): Hold[] {
  const written = agent.replaceAll('_', '-');
  return disk.list(l.tasks('active')).flatMap((name) => {
    const claim = parseClaimName(name);
    if (claim?.agent !== written || claim.leaving || !isAlive(claim.peer)) return [];
    const file = l.tasks('active') + path.sep + name;
    const task = tasks.byId.get(claim.id)?.task ?? lying.read(file, claim.id);
    const stamp = disk.stamp(file);
    // To bid is not to take; and what cannot be read is nobody's work.
    if (task === undefined || !roleFacts(task.role).takesCapacity || stamp === undefined) return [];
    return [{ task: claim.id, peer: claim.peer, since: BigInt(stamp.slice(stamp.lastIndexOf('.') + 1)) }];
  });
}
