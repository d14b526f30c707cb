/**
 * The tasks of a workspace for somebody who only looks: no conversations, no records, nothing joined. It is apart from the whole
 * store because reading YAML is most of the time a short command takes to start.
 */
import type { Problem } from '../../../domain/problem.js';
import type { Disk } from '../../../ports/disk.js';
import type { Clock } from '../../../ports/clock.js';
import type { Processes } from '../../../ports/processes.js';
import type { Scan, Tasks } from '../../../ports/store/tasks.js';
import { ahead } from '../ahead.js';
import { journal } from '../journal.js';
import { layout } from '../base/layout.js';
import { openTasks, type OpenTasks } from '../open-tasks.js';
import { presence } from '../presence.js';
import { quarantine } from '../quarantine.js';
import { shelves } from '../task-lookup.js';
import { taskVerbs } from '../tasks.js';
import { writing } from '../base/atomic-write.js';

export type Look = Pick<Tasks, 'scan' | 'open' | 'openCount' | 'isOpen' | 'read' | 'ended'> &
  Pick<OpenTasks, 'glance' | 'strays'>;

interface LookOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  processes: Processes;
  /** What can never be read is told and left where it lies; otherwise it is set aside. */
  leaves?: boolean;
}

export function look({ root, disk, clock, processes, leaves = false }: LookOptions): Look {
  const l = layout(root);
  const now = (): Date => clock.now();
  const peer = { id: 'nobody', ...processes.me(), agents: [], since: now().toISOString() };
  const here = presence(disk, l, processes, peer);
  const setAside = leaves ? (_: string, why: Problem): Problem => why : quarantine(disk, l);
  const tasks = openTasks(disk, l, setAside, now);
  const write = writing(disk, l, peer.id, () => here.join());
  const kept = journal(disk, l, write, peer.id);
  const { scan, open, openCount, isOpen, read, ended } = taskVerbs({
    disk,
    l,
    writing: write,
    tasks,
    lying: shelves(disk, l, now),
    presence: here,
    quarantine: setAside,
    ahead: ahead(kept, () => undefined),
    journal: kept,
  });
  const looked = async (full?: boolean): Promise<Scan> => ({ ...(await scan(full)), strays: tasks.strays() });
  return { scan: looked, glance: tasks.glance, strays: tasks.strays, open, openCount, isOpen, read, ended };
}
