/**
 * Who gives way when tasks wait for each other in a circle. Everything is read off the records of the circle, and nothing off the clock,
 * so whoever finds the same circle makes the same choice.
 *
 * Hierarchical: the lowest priority gives way, with ageing. A wait counts `rank × AGEING_MS + how long it has lasted`, with rank 3 for A down to
 * 0 for D: ten minutes of waiting are worth one priority. Of two waits, how long each has lasted differs by when they began, whatever
 * the time is now. Mesh: the wait that began first gives way.
 *
 * What is given up is what was asked for: the child that somebody waits for is cancelled, and its asker hears why. Who only depends on
 * others has asked for nothing, and fails itself. Where everybody only depends on the next, no choice helps: all of them fail.
 */
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
  /** Nobody in it can ever begin: each of them fails. */
  | { kind: 'impossible'; fail: string[]; error: Problem }
  /** `victim` gives up its wait: `cancelled` ends with `error`, which is the victim itself where there is nothing else to cancel. */
  | { kind: 'victim'; victim: string; cancelled: string; rule: string; error: Problem };

const AGEING_MS = 10 * 60_000;

/** `circle` as the graph gives it; `find` the open tasks in it. */
export function breakCircle(
  circle: readonly string[],
  find: (id: string) => Link | undefined,
  mode: Coordination['mode'],
): Break | undefined {
  const waits = circle.flatMap((node, i) => {
    const link = find(node);
    const next = circle[(i + 1) % circle.length]!;
    // Whoever waits for its own budget waits for the child that holds it.
    const held = nodeBudget(next) === node ? circle[(i + 2) % circle.length]! : next;
    return link === undefined ? [] : [waitOf(link, held, find)];
  });
  if (waits.length > 0 && waits.every(({ kind }) => kind === 'dependency') && waits.length === circle.length)
    return { kind: 'impossible', fail: waits.map(({ victim }) => victim), error: cycleProblem(circle) };
  const asked = waits.filter(({ kind }) => kind !== 'turn');
  const [first] = (asked.length > 0 ? asked : waits).sort(mode === 'mesh' ? byTime : byWorth);
  if (first === undefined) return undefined;
  const rule = mode === 'mesh' ? MESH_RULE : HIERARCHICAL_RULE;
  const { victim, cancelled } = first;
  return { kind: 'victim', victim, cancelled, rule, error: deadlockProblem(circle, victim, cancelled, rule) };
}

const MESH_RULE = 'the wait that began first gives way';
const HIERARCHICAL_RULE = 'the lowest priority gives way, ten minutes of waiting counting as one priority';

interface Wait {
  kind: 'ask' | 'dependency' | 'turn';
  victim: string;
  cancelled: string;
  priority: Task['priority'];
  sinceMs: number;
}

function waitOf({ task, state }: Link, next: string, find: (id: string) => Link | undefined): Wait {
  const mine = { victim: task.id, priority: priorityIn(task, find) };
  if (state === 'pending' && task.dependencies.includes(next))
    return { ...mine, kind: 'dependency', cancelled: task.id, sinceMs: Date.parse(task.created_at) };
  const child = find(next)?.task;
  // A wait begins when what it is for is asked for.
  if (child?.parent === task.id)
    return { ...mine, kind: 'ask', cancelled: child.id, sinceMs: Date.parse(child.created_at) };
  const kind = turnKey(next) === undefined ? 'ask' : 'turn';
  return { ...mine, kind, cancelled: task.id, sinceMs: Date.parse(task.created_at) };
}

/** What serves another is worth what that one is, even if it was not asked for urgently. Of a circle all that counts is in the circle. */
function priorityIn(task: Task, find: (id: string) => Link | undefined): Task['priority'] {
  let { priority } = task;
  const seen = new Set<string>();
  let at: Task | undefined = task;
  while (at !== undefined && roleFacts(at.role).servesAsker && !seen.has(at.id)) {
    seen.add(at.id);
    at = at.parent === undefined ? undefined : find(at.parent)?.task;
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

/** Without the time that is the same for all. */
function worth({ priority, sinceMs }: Wait): number {
  return RANK[priority] * AGEING_MS - sinceMs;
}

const RANK = { A: 3, B: 2, C: 1, D: 0 } as const;

export function circleText(circle: readonly string[]): string {
  return [...circle, circle[0]!].map(nodeText).join(' → ');
}

function cycleProblem(circle: readonly string[]): Problem {
  return problem('cycle', `its dependencies form a cycle: ${circleText(circle)}`, {
    hint: 'remove one of these dependencies and retry the task',
  });
}

function deadlockProblem(circle: readonly string[], victim: string, cancelled: string, rule: string): Problem {
  const who = victim === cancelled ? `${victim} had to end` : `${victim} had to do without ${cancelled}`;
  return problem('deadlock', `each waited for the next: ${circleText(circle)}; ${who}: ${rule}`, {
    hint: 'go on in a way that needs nobody in this circle',
  });
}

/** For a wait that is only being asked for: it is refused, and nobody has to give way. */
export function wouldDeadlock(circle: readonly string[]): Problem {
  return problem('deadlock', `this could never end, because each would wait for the next: ${circleText(circle)}`, {
    hint: 'do it yourself, or ask somebody who does not wait for you',
  });
}
