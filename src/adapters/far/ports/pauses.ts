/** Pauses as live entries: `paused/<agent>`, and `paused/task.<root>` for a task. */
import type { Entry } from '../../../ports/ledger.js';
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
    ({ agents, tasks } = sorted(shelf.all().map(([name, { value }]) => [name, value])));
    return agents;
  }
}

/** Live entries under `paused/`, as agents and tasks with the reasons. */
export function pausedIn(entries: readonly Entry[]): Sorted {
  return sorted(entries.map(({ key, value }) => [key.slice(PAUSED.length), value]));
}

interface Sorted {
  agents: ReadonlyMap<string, string>;
  tasks: ReadonlyMap<string, string>;
}

function sorted(values: readonly (readonly [name: string, value: string])[]): Sorted {
  const agents = new Map<string, string>();
  const tasks = new Map<string, string>();
  for (const [name, value] of values) {
    const { reason } = JSON.parse(value) as { reason: string };
    if (name.startsWith(TASK)) tasks.set(name.slice(TASK.length), reason);
    else agents.set(name, reason);
  }
  return { agents, tasks };
}

/** False: it was already paused; only the reason may have changed. */
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
