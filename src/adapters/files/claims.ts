/** Claims as file names in `tasks/active`: claims of live processes, and leftovers of dead ones. */
import path from 'node:path';
import { changedAt } from '../../domain/stamp.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Disk } from '../../ports/disk.js';
import type { Hold } from '../../ports/store/tasks.js';
import { agentInClaim, LEAVING, parseClaimName, type Layout } from './base/layout.js';
import { hasEnded } from './base/where-now.js';
import type { OpenTasks } from './open-tasks.js';
import type { TaskLookup } from './task-lookup.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  tasks: OpenTasks;
  lookup: Pick<TaskLookup, 'read'>;
  isAlive: (peer: string) => boolean;
}

/**
 * The claims of live processes for one agent, read from the folder now. A claim is a rename, which
 * the file system stamps with its time: of two claims, the maker of the later one can already see
 * the earlier one.
 */
export function claimsFor({ disk, layout, tasks, lookup, isAlive }: Dependencies, agent: string): Hold[] {
  const agentName = agentInClaim(agent);
  return disk.list(layout.tasks('active')).flatMap((name) => {
    const claim = parseClaimName(name);
    if (claim?.agent !== agentName || claim.leaving || !isAlive(claim.peer)) return [];
    const file = layout.tasks('active') + path.sep + name;
    const task = tasks.byId.get(claim.id)?.task ?? lookup.read(file, claim.id);
    const stamp = disk.stamp(file);
    // A bid does not occupy its agent, and a record that cannot be read does not count as work.
    if (task === undefined || !roleFacts(task.role).takesCapacity || stamp === undefined) return [];
    return [{ task: claim.id, peer: claim.peer, since: changedAt(stamp) }];
  });
}

/** Clears the claims that dead peers left between two steps of settling a task. */
export function sweepClaims(disk: Disk, layout: Layout, isAlive: (peer: string) => boolean): void {
  for (const name of disk.list(layout.tasks('active'))) {
    const claim = parseClaimName(name);
    if (claim === undefined || isAlive(claim.peer)) continue;
    const file = path.join(layout.tasks('active'), name);
    if (hasEnded(disk, layout, claim.id)) disk.remove(file);
    else if (claim.leaving) restoreClaim(disk, layout, file, claim.id);
  }
}

/** If the task has another file, it had ended and was opened again: the claim is a leftover. */
function restoreClaim(disk: Disk, layout: Layout, leaving: string, id: string): void {
  const isPlaced = (): boolean =>
    disk.stamp(layout.task('pending', id)) !== undefined || disk.stamp(layout.task('waiting', id)) !== undefined;
  const isClaimed = (): boolean =>
    disk.list(layout.tasks('active')).some((name) => {
      const claim = parseClaimName(name);
      return claim?.id === id && !claim.leaving;
    });
  if (isPlaced() || isClaimed() || isPlaced()) disk.remove(leaving);
  else disk.rename(leaving, leaving.slice(0, -LEAVING.length));
}
