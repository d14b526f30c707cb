/**
 * The tasks of a workspace, read-only: no conversations, no records, no presence. It is separate
 * from the store because loading the YAML parser is most of the start-up time of a short command.
 */
import type { Problem } from '../../../domain/problem.js';
import type { Disk } from '../../../ports/disk.js';
import type { Clock } from '../../../ports/clock.js';
import type { Processes } from '../../../ports/processes.js';
import type { Scan, Tasks } from '../../../ports/store/tasks.js';
import { journal } from '../journal/journal.js';
import { placer } from '../place/placer.js';
import { layout as layoutOf } from '../base/layout.js';
import { openTasks, type OpenTasks } from '../open-tasks.js';
import { presence } from '../presence.js';
import { quarantine } from '../quarantine.js';
import { taskLookup } from '../task-lookup.js';
import { taskVerbs } from '../tasks.js';
import { withDeadJournals } from './with-dead-journals.js';
import { atomicWrite } from '../base/atomic-write.js';

export type Look = Pick<Tasks, 'scan' | 'open' | 'openCount' | 'isOpen' | 'read' | 'ended'> &
  Pick<OpenTasks, 'glance' | 'strays'>;

interface LookOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  processes: Processes;
  /** Reports files that can never be valid without moving them to quarantine. */
  leaves?: boolean;
}

export function look({ root, disk: realDisk, clock, processes, leaves = false }: LookOptions): Look {
  const layout = layoutOf(root);
  const disk = withDeadJournals(realDisk, layout, processes);
  const now = (): Date => clock.now();
  const peer = { id: 'nobody', ...processes.me(), agents: [], since: now().toISOString() };
  const here = presence(disk, layout, processes, peer);
  const moveToQuarantine = leaves ? (_: string, why: Problem): Problem => why : quarantine(disk, layout);
  const tasks = openTasks(disk, layout, moveToQuarantine, now);
  const write = atomicWrite(disk, layout, peer.id, () => here.join());
  // Nothing is written here, so neither of them ever opens a file.
  const log = journal({
    disk,
    folder: layout.journal,
    peer: peer.id,
    owner: processes.me(),
    whereIs: () => undefined,
    beforeFirst: () => undefined,
    onFailure: () => undefined,
  });
  const place = placer({
    journal: log,
    execute: () => [],
    monotonicMs: () => 0,
    lag: () => undefined,
    afterBatch: () => undefined,
    onFailure: () => undefined,
  });
  const { scan, open, openCount, isOpen, read, ended } = taskVerbs({
    disk,
    layout,
    write,
    tasks,
    lookup: taskLookup(disk, layout, now),
    presence: here,
    quarantine: moveToQuarantine,
    journal: log,
    placer: place,
  });
  const looked = async (full?: boolean): Promise<Scan> => ({ ...(await scan(full)), strays: tasks.strays() });
  return { scan: looked, glance: tasks.glance, strays: tasks.strays, open, openCount, isOpen, read, ended };
}
