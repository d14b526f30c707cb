/**
 * Placements of tasks in the write-behind queue: creating, moving and ending their files when their
 * turn comes.
 */
import path from 'node:path';
import type { Problem } from '../../domain/problem.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim } from '../../ports/store/tasks.js';
import type { Ahead, Placement } from './ahead.js';
import type { Line } from './journal.js';
import { claimName, LEAVING, type Layout } from './base/layout.js';
import type { OpenTasks } from './open-tasks.js';
import type { Quarantine } from './quarantine.js';
import type { TaskLookup } from './task-lookup.js';

interface TaskPlacement extends Placement {
  /** The current file; undefined: there is none yet, and an existing name must not be replaced. */
  readonly from: string | undefined;
  /** The target; may change while the placement is queued. */
  to: string;
  /** The end of the task, if it has ended. */
  end?: Placed;
}

export interface Placing {
  get(id: string): TaskPlacement | undefined;
  send(one: Omit<TaskPlacement, 'to' | 'arrive'>, to: string): void;
  /** Changes the target. `rests`: the task waits for its children. */
  redirect(one: TaskPlacement, to: string, rests: boolean): void;
  drop(id: string): void;
  caughtUp(): Promise<void>;
  /**
   * Like `caughtUp`; also, every child of this task that was created here has a name on the disk.
   */
  named(parent: string): Promise<void>;
  safe(root: string, lines: readonly Line[]): Promise<void>;
  /** Removes the task from the open tasks in memory. */
  forget(id: string): void;
  /** Keeps a result that came after its claim was lost. */
  keepAsEvidence(claim: Pick<Claim, 'id' | 'agent'>, tmp: string): false;
}

interface Parts {
  disk: Disk;
  layout: Layout;
  tasks: OpenTasks;
  lookup: TaskLookup;
  quarantine: Quarantine;
  ahead: Ahead;
  me: string;
}

export function placing({ disk, layout, tasks, lookup, quarantine, ahead, me }: Parts): Placing {
  const onItsWay = ahead as Ahead<TaskPlacement>;
  return {
    get: (id) => onItsWay.get(id),
    send(one, to) {
      const placement: TaskPlacement = { ...one, to, arrive: (tmp) => arrive(placement, tmp) };
      onItsWay.put(placement);
    },
    redirect(one, to, rests) {
      one.to = to;
      one.rests = rests;
      if (one.from === to) onItsWay.drop(one.id);
      else onItsWay.put(one);
    },
    drop: (id) => onItsWay.drop(id),
    caughtUp: () => onItsWay.caughtUp(),
    async named(parent) {
      do await onItsWay.caughtUp();
      while (onItsWay.some((one) => one.parent === parent && one.from === undefined));
    },
    safe: (root, lines) => onItsWay.safe(root, lines),
    forget,
    keepAsEvidence,
  };

  function arrive(one: TaskPlacement, tmp: string | undefined): void {
    if (one.end !== undefined) return ended(one, one.end.task, tmp!);
    const isPlaced = tmp === undefined ? moved(one) : made(one, tmp);
    if (!isPlaced) return forget(one.id); // another process created or took it: ours does not count
    const entry = tasks.byId.get(one.id);
    const stamp = disk.stamp(one.to);
    if (entry === undefined || stamp === undefined) return;
    if (tmp !== undefined || sameContent(stamp, entry.stamp)) entry.stamp = stamp;
    else tasks.load(entry.state, entry.file);
  }

  function made({ id, to }: TaskPlacement, tmp: string): boolean {
    if (!lookup.has(id)) return disk.rename(tmp, to);
    disk.remove(tmp);
    return false;
  }

  function moved({ id, from, to }: TaskPlacement): boolean {
    if (disk.stamp(to) !== undefined) quarantine(to, twin(layout, id, to));
    return disk.rename(from!, to);
  }

  /**
   * If our claim is on the disk, others see the task as ours until now, and renaming the claim is
   * the fence.
   */
  function ended({ id, from, to }: TaskPlacement, task: Task, tmp: string): void {
    const leaving = from && from + LEAVING;
    const isFenced = leaving !== undefined && !disk.rename(from!, leaving);
    if (isFenced || lookup.hasEnded(id)) keepAsEvidence({ id, agent: task.claimed_by ?? 'nobody' }, tmp);
    else {
      disk.rename(tmp, to);
      lookup.remember(to, task);
    }
    if (leaving !== undefined && !isFenced) disk.removeSoon(leaving);
  }

  function forget(id: string): void {
    const entry = tasks.byId.get(id);
    if (entry) tasks.remove(entry);
  }

  function keepAsEvidence({ id, agent }: Pick<Claim, 'id' | 'agent'>, tmp: string): false {
    disk.rename(tmp, path.join(layout.evidence, claimName(id, agent, me)));
    return false;
  }
}

export function twin(layout: Layout, id: string, file: string): Problem {
  const shown = path.relative(layout.root, file);
  return {
    code: 'duplicate',
    message: `${shown} has the id ${id} of a task that is being worked on`,
    where: { file: shown },
  };
}
