/** Pauses as live entries: `paused/<agent>`, and `paused/task.<root>` for a task. */
import type { Pauses } from '../../../ports/pauses.js';
import type { Shelf } from '../shelf.js';

export const PAUSED = 'paused/';
const TASK = 'task.';

/** Everything is as of the last scan. */
export function farPauses(shelf: Shelf): Pauses {
  let version = -1;
  let agents: ReadonlyMap<string, string> = new Map();
  let tasks: ReadonlyMap<string, string> = new Map();
  return {
    look,
    all: look,
    tasks: () => (look(), tasks),
    isPaused: (agent) => shelf.get(agent) !== undefined,
    isTaskPaused: (root) => shelf.get(TASK + root) !== undefined,
  };

  function look(): ReadonlyMap<string, string> {
    if (version === shelf.version()) return agents;
    version = shelf.version();
    const all = shelf
      .all()
      .map(([name, { value }]) => [name, (JSON.parse(value) as { reason: string }).reason] as const);
    const isTask = ([name]: readonly [string, string]): boolean => name.startsWith(TASK);
    agents = new Map(all.filter((entry) => !isTask(entry)));
    tasks = new Map(all.filter(isTask).map(([name, reason]) => [name.slice(TASK.length), reason]));
    return agents;
  }
}

/** False: it was paused already, and at most the reason changed. */
export async function pause(shelf: Shelf, name: string, reason: string): Promise<boolean> {
  for (;;) {
    const held = await shelf.read(name);
    if (await shelf.replace(name, held, JSON.stringify({ reason }))) return held === undefined || held.value === '';
  }
}

/** False: it was not paused. */
export async function resume(shelf: Shelf, name: string): Promise<boolean> {
  for (;;) {
    const held = await shelf.read(name);
    if (held === undefined || held.value === '') return false;
    if (await shelf.replace(name, held, undefined)) return true;
  }
}
