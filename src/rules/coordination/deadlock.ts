/**
 * Chooses the task that gives way when tasks wait for each other in a cycle. The choice depends
 * only on the records of the cycle and not on the clock, so every process makes the same one.
 */

// Hierarchical: the lowest priority gives way, with ageing. A wait is worth `rank × AGEING_MS + its
// age`, with rank 3 for A down to 0 for D, so ten minutes of waiting equal one priority. Ages are
// compared by their start, which is the same at any time. Mesh: the wait that began first gives
// way.
//
// The victim's request is cancelled: the child it waits for ends, and the victim reads why. A
// victim that only depends on others has no request and fails itself. If all tasks of a cycle only
// depend on the next one, no choice helps and all of them fail.
import { roleFacts } from '../../domain/task/role.js';
import type { Coordination } from '../../domain/config/config.js';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { OpenState, Task } from '../../domain/task/task.js';
import { nodeBudget, nodeText, turnKey } from './wait-node.js';

export interface Link {
  task: Task;
  state: OpenState;
}

type Break =
  /** No task of the cycle can ever start, so all of them fail. */
  | { kind: 'impossible'; fail: string[]; error: Problem }
  /** `victim` gives up its wait; `cancelled`, its child or the victim itself, ends with `error`. */
  | { kind: 'victim'; victim: string; cancelled: string; rule: string; error: Problem };

const AGEING_MS = 10 * 60_000;

/** `cycle`: names of nodes in the wait graph; `find`: the open task of a node, if it has one. */
export function breakCycle(
  cycle: readonly string[],
  find: (id: string) => Link | undefined,
  mode: Coordination['mode'],
): Break | undefined {
  const waits = cycle.flatMap((node, i) => {
    const link = find(node);
    const next = cycle[(i + 1) % cycle.length]!;
    // A task that waits for its own budget waits for the child that holds a share of it.
    const target = nodeBudget(next) === node ? cycle[(i + 2) % cycle.length]! : next;
    return link === undefined ? [] : [waitOf(link, target, find)];
  });
  if (waits.length > 0 && waits.every(({ kind }) => kind === 'dependency') && waits.length === cycle.length)
    return { kind: 'impossible', fail: waits.map(({ victim }) => victim), error: cycleProblem(cycle) };
  const asked = waits.filter(({ kind }) => kind !== 'turn');
  const [first] = (asked.length > 0 ? asked : waits).sort(mode === 'mesh' ? byTime : byWorth);
  if (first === undefined) return undefined;
  const rule = mode === 'mesh' ? MESH_RULE : HIERARCHICAL_RULE;
  const { victim, cancelled } = first;
  return { kind: 'victim', victim, cancelled, rule, error: deadlockProblem(cycle, victim, cancelled, rule) };
}

const MESH_RULE = 'the wait that began first gives way';
const HIERARCHICAL_RULE = 'the lowest priority gives way; ten minutes of waiting count as one priority';

interface Wait {
  kind: 'ask' | 'dependency' | 'turn';
  victim: string;
  cancelled: string;
  priority: Task['priority'];
  sinceMs: number;
}

function waitOf({ task, state }: Link, next: string, find: (id: string) => Link | undefined): Wait {
  const wait = { victim: task.id, priority: priorityIn(task, (id) => find(id)?.task) };
  if (state === 'pending' && task.dependencies.includes(next))
    return { ...wait, kind: 'dependency', cancelled: task.id, sinceMs: Date.parse(task.created_at) };
  const child = find(next)?.task;
  // A wait begins when the child is created.
  if (child?.parent === task.id)
    return { ...wait, kind: 'ask', cancelled: child.id, sinceMs: Date.parse(child.created_at) };
  const kind = turnKey(next) === undefined ? 'ask' : 'turn';
  return { ...wait, kind, cancelled: task.id, sinceMs: Date.parse(task.created_at) };
}

/**
 * The priority with which a task takes part in a cycle: one that serves its asker inherits a higher
 * priority from it. `taskOf`: looks up the tasks of the cycle, because other askers do not count.
 */
export function priorityIn(task: Task, taskOf: (id: string) => Task | undefined): Task['priority'] {
  let { priority } = task;
  const seen = new Set<string>();
  let at: Task | undefined = task;
  while (at !== undefined && roleFacts(at.role).servesAsker && !seen.has(at.id)) {
    seen.add(at.id);
    at = at.parent === undefined ? undefined : taskOf(at.parent);
    if (at !== undefined && RANK[at.priority] > RANK[priority]) priority = at.priority;
  }
  return priority;
}

function byTime(a: Wait, b: Wait): number {
  return a.sinceMs - b.sinceMs || compareText(a.victim, b.victim);
}

function byWorth(a: Wait, b: Wait): number {
  return worth(a) - worth(b) || byTime(b, a);
}

/** The current time is left out, because it is the same for all tasks. */
function worth({ priority, sinceMs }: Wait): number {
  return RANK[priority] * AGEING_MS - sinceMs;
}

const RANK = { A: 3, B: 2, C: 1, D: 0 } as const;

export function cycleText(cycle: readonly string[]): string {
  return [...cycle, cycle[0]!].map(nodeText).join(' → ');
}

function cycleProblem(cycle: readonly string[]): Problem {
  return problem('cycle', `its dependencies form a cycle: ${cycleText(cycle)}`, {
    hint: 'remove one of these dependencies and retry the task',
  });
}

function deadlockProblem(cycle: readonly string[], victim: string, cancelled: string, rule: string): Problem {
  const outcome = victim === cancelled ? `${victim} failed` : `${victim} continues without ${cancelled}`;
  return problem('deadlock', `each waited for the next: ${cycleText(cycle)}; ${outcome}: ${rule}`, {
    hint: 'continue without the tasks in this cycle',
  });
}

/** For a wait that does not exist yet: the new wait is refused, so no task has to give way. */
export function wouldDeadlock(cycle: readonly string[]): Problem {
  return problem('deadlock', `this could never end, because each would wait for the next: ${cycleText(cycle)}`, {
    hint: 'do it yourself, or ask an agent that does not wait for you',
  });
}
