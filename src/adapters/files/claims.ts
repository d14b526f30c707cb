/**
 * The claims of live processes for one agent, read from the folder now. A claim is a rename, which
 * the file system stamps with its time: of two claims, the maker of the later one can already see
 * the earlier one.
 */
import path from 'node:path';
import { changedAt } from '../../domain/stamp.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Disk } from '../../ports/disk.js';
import type { Hold } from '../../ports/store/tasks.js';
import { agentInClaim, parseClaimName, type Layout } from './base/layout.js';
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
  const written = agentInClaim(agent);
  return disk.list(l.tasks('active')).flatMap((name) => {
    const claim = parseClaimName(name);
    if (claim?.agent !== written || claim.leaving || !isAlive(claim.peer)) return [];
    const file = l.tasks('active') + path.sep + name;
    const task = tasks.byId.get(claim.id)?.task ?? lying.read(file, claim.id);
    const stamp = disk.stamp(file);
    // A bid does not occupy its agent, and a record that cannot be read is nobody's work.
    if (task === undefined || !roleFacts(task.role).takesCapacity || stamp === undefined) return [];
    return [{ task: claim.id, peer: claim.peer, since: changedAt(stamp) }];
  });
}
