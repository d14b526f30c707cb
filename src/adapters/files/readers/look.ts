/**
 * The tasks of a workspace, read-only: no conversations, no records, no presence. It is separate
 * from the store because loading the YAML parser is most of the start-up time of a short command.
 */
import type { Problem } from '../../../domain/problem.js';
import type { Disk } from '../../../ports/disk.js';
import type { Clock } from '../../../ports/clock.js';
import type { Processes } from '../../../ports/processes.js';
import type { Scan, Tasks } from '../../../ports/store/tasks.js';
import { layout as layoutOf } from '../base/layout.js';
import { openTasks, type OpenTasks } from '../open-tasks.js';
import { presence } from '../base/presence.js';
import { quarantine } from '../quarantine.js';
import { taskLookup } from '../task-lookup.js';
import { taskView } from '../task-view.js';
import { withDeadJournals } from '../journal/with-dead-journals.js';

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
  const lookup = taskLookup(disk, layout, now, () => false);
  const view = taskView({ disk, layout, tasks, lookup, presence: here, queued: () => undefined });
  const { scan, open, openCount, isOpen, read } = view;
  const ended: Tasks['ended'] = async (options = {}) => lookup.ended(options);
  const looked = async (full?: boolean): Promise<Scan> => ({ ...(await scan(full)), strays: tasks.strays() });
  return { scan: looked, glance: tasks.glance, strays: tasks.strays, open, openCount, isOpen, read, ended };
}
