/** Tasks on their way to where they shall lie: what a placement of a task comes to when its turn is there. */
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
import type { Shelves } from './task-lookup.js';

interface TaskPlacement extends Placement {
  /** Its file; undefined: it has none yet, and must not take a name that exists. */
  readonly from: string | undefined;
  /** May change as long as it is on its way. */
  to: string;
  /** It has ended, and so. */
  end?: Placed;
}

export interface Placing {
  get(id: string): TaskPlacement | undefined;
  send(one: Omit<TaskPlacement, 'to' | 'arrive'>, to: string): void;
  /** It goes elsewhere. `rests`: among the waiting, for its children. */
  redirect(one: TaskPlacement, to: string, rests: boolean): void;
  drop(id: string): void;
  caughtUp(): Promise<void>;
  /** The same, and every part of this task that was made here has a name on the disk, also one that has moved on since. */
  named(parent: string): Promise<void>;
  safe(root: string, lines: readonly Line[]): Promise<void>;
  /** It is open no longer, as far as memory goes. */
  forget(id: string): void;
  /** Brought by somebody who did not own the task any more. */
  keepAsEvidence(claim: Pick<Claim, 'id' | 'agent'>, tmp: string): false;
}

interface Parts {
  disk: Disk;
  l: Layout;
  tasks: OpenTasks;
  lying: Shelves;
  quarantine: Quarantine;
  ahead: Ahead;
  me: string;
}

export function placing({ disk, l, tasks, lying, quarantine, ahead, me }: Parts): Placing {
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
    if (!isPlaced) return forget(one.id); // somebody made or took it: ours is none
    const entry = tasks.byId.get(one.id);
    const stamp = disk.stamp(one.to);
    if (entry === undefined || stamp === undefined) return;
    if (tmp !== undefined || sameContent(stamp, entry.stamp)) entry.stamp = stamp;
    else tasks.load(entry.state, entry.file);
  }

  function made({ id, to }: TaskPlacement, tmp: string): boolean {
    if (!lying.has(id)) return disk.rename(tmp, to);
    disk.remove(tmp);
    return false;
  }

  function moved({ id, from, to }: TaskPlacement): boolean {
    if (disk.stamp(to) !== undefined) quarantine(to, twin(l, id, to));
    return disk.rename(from!, to);
  }

  /** Where there is a claim of ours on the disk, others see the task in our hands until now, and renaming it is the fence. */
  function ended({ id, from, to }: TaskPlacement, task: Task, tmp: string): void {
    const leaving = from && from + LEAVING;
    const isFenced = leaving !== undefined && !disk.rename(from!, leaving);
    if (isFenced || lying.hasEnded(id)) keepAsEvidence({ id, agent: task.claimed_by ?? 'nobody' }, tmp);
    else {
      disk.rename(tmp, to);
      lying.remember(to, task);
    }
    if (leaving !== undefined && !isFenced) disk.removeSoon(leaving);
  }

  function forget(id: string): void {
    const entry = tasks.byId.get(id);
    if (entry) tasks.remove(entry);
  }

  function keepAsEvidence({ id, agent }: Pick<Claim, 'id' | 'agent'>, tmp: string): false {
    disk.rename(tmp, path.join(l.evidence, claimName(id, agent, me)));
    return false;
  }
}

export function twin(l: Layout, id: string, file: string): Problem {
  const shown = path.relative(l.root, file);
  return {
    code: 'duplicate',
    message: `${shown} has the id ${id} of a task that is being worked on`,
    where: { file: shown },
  };
}
