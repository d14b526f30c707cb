/**
 * The wait-for graph, in step with the open tasks. Only tasks whose record changed since the last look are looked at again. What waits for what:
 * - a parked task for the tasks it asked for, a pending one for its dependencies;
 * - a task of an agent with a shared conversation for its turn, and the turn for the task that has it until it ends; a resource likewise;
 * - a task that could ask for no more, because its open children hold its budget, for that budget, and the budget for them;
 * - a pending task for room at its agent, if that works on a limited number at once. Whatever waits keeps no place there (free.ts), so an agent
 *   waits only for tasks that are being worked on. These wait for nobody and can close no circle, so they are drawn for people alone;
 * - a question to the human for the human, who waits for nobody.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import { ENGINE, HUMAN, type OpenState, type Task } from '../../domain/task/task.js';
import type { Link } from '../../rules/coordination/deadlock.js';
import { isLeaf } from '../../rules/patterns/decide.js';
import { waitGraph } from '../../rules/coordination/wait-graph.js';
import {
  agentNode,
  budgetNode,
  HUMAN_NODE,
  nodeAgent,
  nodeBudget,
  resourceKey,
  resourceOf,
  turnKey,
  turnNode,
} from '../../rules/coordination/wait-node.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { EngineContext } from '../core/context.js';

export interface WhoWaits {
  /** Brings it in step with the open tasks. Nothing is done where nothing changed. */
  look(): Promise<void>;
  /** A task as it was at the last look. */
  find(id: string): Link | undefined;
  /** For what this node waits; what has ended may be among it. */
  waitsOf(node: string): Iterable<string>;
  /** Whether an open task must be waited for, or a turn, before this one can begin or go on. */
  isHeldUp(task: string): boolean;
  /** Who had this turn, or this resource. */
  holderOf(key: string): string | undefined;
  /** For who changed hands with it and asks before the next look. */
  lookAgain(key: string): Promise<void>;
  /** Every circle that there is now, from the wait on that closed it. */
  circles(): Iterable<string[]>;
  /** The circle that such a wait would close. */
  wouldClose(from: string, to: string): string[] | undefined;
}

interface Known extends Link {
  /** The turn it needs in order to begin or go on. */
  key: string | undefined;
  look: number;
}

/** `worksOn`: for people who look, the tasks that fill up an agent. */
export function whoWaits(
  context: Pick<EngineContext, 'tasks' | 'locks' | 'agents'>,
  worksOn: (agent: string) => readonly string[] = nothing,
): WhoWaits {
  const graph = waitGraph();
  const known = new Map<string, Known>();
  /** For each turn, the open tasks that need it; they are in line, or have it. */
  const lines = new Map<string, Set<string>>();
  const holders = new Map<string, string>();
  /** The waits of each node that are in the graph, or were refused because they close a circle. */
  const drawn = new Map<string, ReadonlySet<string>>();
  const refused = new Map<string, [from: string, to: string]>();
  let looks = 0;
  let changes: number | undefined;

  return {
    look,
    find: (id) => known.get(id),
    waitsOf: (node) => drawn.get(node) ?? [],
    isHeldUp: (task) => [...(drawn.get(task) ?? [])].some((node) => known.has(node) || turnKey(node) !== undefined),
    holderOf: (key) => holders.get(key),
    lookAgain: (key) => lookAtTurns([key]),
    circles,
    wouldClose: graph.wouldClose,
  };

  async function look(): Promise<void> {
    const now = context.tasks.version();
    if (now === changes) return;
    const changed = changes === undefined ? undefined : context.tasks.changedSince(changes);
    if (changed === undefined) lookAtTasks();
    else for (const id of new Set(changed)) lookAtTask(id);
    await lookAtTurns([...lines.keys()]);
    changes = now;
  }

  function* circles(): Iterable<string[]> {
    for (const [edge, [from, to]] of refused) {
      const circle = drawn.get(from)?.has(to) === true ? graph.addEdge(from, to) : undefined;
      if (circle === undefined) refused.delete(edge);
      else yield circle;
    }
  }

  function lookAtTask(id: string): void {
    const before = known.get(id);
    const one = context.tasks.getOpen(id);
    if (one === undefined) return before && forget(id, before);
    if (before?.task !== one.task || before.state !== one.state) learn(one.task, one.state);
  }

  function lookAtTasks(): void {
    looks++;
    let seen = 0;
    for (const { task, state } of context.tasks.open()) {
      seen++;
      const before = known.get(task.id);
      if (before === undefined || before.task !== task || before.state !== state) learn(task, state);
      else before.look = looks;
    }
    if (seen === known.size) return;
    for (const [id, one] of known) if (one.look !== looks) forget(id, one);
  }

  function learn(task: Task, state: OpenState): void {
    const { id } = task;
    const key = turnNeeded(context, task);
    const before = known.get(id);
    if (before?.key !== key) {
      leaveLine(id, before?.key);
      if (key !== undefined) lines.set(key, (lines.get(key) ?? new Set()).add(id));
    }
    known.set(id, { task, state, key, look: looks });
    redraw(id, before, known.get(id));
  }

  function forget(id: string, before: Known): void {
    known.delete(id);
    leaveLine(id, before.key);
    redraw(id, before, undefined);
  }

  function redraw(id: string, before: Known | undefined, now: Known | undefined): void {
    draw(id);
    if (isShort(before) || isShort(now)) draw(budgetNode(id));
    if (worksOn === nothing) return;
    for (const node of drawn.get(id) ?? []) if (nodeAgent(node) !== undefined) draw(node);
  }

  function leaveLine(id: string, key: string | undefined): void {
    const line = key === undefined ? undefined : lines.get(key);
    if (line === undefined || key === undefined || !line.delete(id) || line.size > 0) return;
    lines.delete(key);
    holders.delete(key);
    draw(turnNode(key));
  }

  /** All turns are asked for first, then drawn without a wait, so that nobody meets a graph that is half drawn. */
  async function lookAtTurns(keys: readonly string[]): Promise<void> {
    const asked = keys.filter(hasHolder);
    const holding = await Promise.all(asked.map((key) => context.locks.holder(key)));
    const now = new Map(asked.map((key, i) => [key, holding[i]]));
    for (const key of keys) drawTurn(key, now.get(key));
  }

  /** Whoever is alone in line waits for nobody in it; a resource may be held by somebody who is in no line. */
  function hasHolder(key: string): boolean {
    return (lines.get(key)?.size ?? 0) > 1 || (isResource(key) && lines.has(key));
  }

  function drawTurn(key: string, holder: string | undefined): void {
    const line = lines.get(key);
    if (line === undefined || holder === holders.get(key)) return;
    if (holder === undefined) holders.delete(key);
    else holders.set(key, holder);
    draw(turnNode(key));
    for (const id of line) draw(id);
  }

  /** Brings the graph in step with what this node waits for now. */
  function draw(node: string): void {
    const wanted = new Set(waitsNow(node));
    const before = drawn.get(node);
    if (wanted.size > 0) drawn.set(node, wanted);
    else drawn.delete(node);
    for (const to of before ?? []) {
      if (wanted.has(to)) continue;
      graph.removeEdge(node, to);
      refused.delete(`${node}\n${to}`);
    }
    for (const to of wanted) {
      if (before?.has(to)) continue;
      if (graph.addEdge(node, to) !== undefined) refused.set(`${node}\n${to}`, [node, to]);
    }
  }

  function waitsNow(node: string): readonly string[] {
    const key = turnKey(node);
    if (key !== undefined) return holders.has(key) ? [holders.get(key)!] : [];
    const agent = nodeAgent(node);
    if (agent !== undefined) return worksOn(agent);
    const spent = nodeBudget(node);
    const one = known.get(spent ?? node);
    if (one === undefined) return [];
    if (spent !== undefined) return holdersOf(one);
    const line = inLine(one);
    // A need for a resource names its holder, too. One way is enough, and the one through the resource says more.
    const asks = line.length === 0 ? asksOf(one) : asksOf(one).filter((id) => id !== holders.get(one.key!));
    return [...asks, ...line, ...roomFor(one)];
  }

  function inLine({ task, state, key }: Known): string[] {
    const holder = key === undefined ? undefined : holders.get(key);
    if (holder === undefined || state === 'active' || holder === task.id) return [];
    // What somebody holds already is there for what they asked.
    return isResource(key!) && holder === task.parent ? [] : [turnNode(key!)];
  }

  function roomFor({ task: { to, role }, state }: Known): string[] {
    if (state !== 'pending' || to === undefined || to === HUMAN || to === ENGINE || !roleFacts(role).takesCapacity)
      return [];
    const most = context.agents.all().get(to)?.maxConcurrentTasks ?? Infinity;
    return most === Infinity ? [] : [agentNode(to)];
  }
}

function nothing(): readonly string[] {
  return [];
}

function isShort(one: Link | undefined): boolean {
  return one?.task.waits?.budget !== undefined;
}

/** Who works waits for nobody. */
export function asksOf({ task, state }: Link): readonly string[] {
  if (state === 'active') return [];
  if (task.to === HUMAN) return [HUMAN_NODE];
  if (state === 'pending') return task.dependencies;
  return task.waits?.budget === undefined ? (task.waits?.tasks ?? []) : [budgetNode(task.id)];
}

/** Those of its children that hold what a task waits for. */
export function holdersOf({ task, state }: Link): readonly string[] {
  return state === 'waiting' && task.waits?.budget !== undefined ? (task.waits.tasks ?? []) : [];
}

/** The turn that a task must have: that of its agent's shared conversation, or of the resource it asks for. */
export function turnNeeded(
  { agents }: Pick<EngineContext, 'agents'>,
  task: Pick<Task, 'id' | 'role' | 'to' | 'session'> & { context?: Record<string, unknown> },
): string | undefined {
  const needed = task.context?.['dependency'] as Partial<Dependency> | undefined;
  if (roleFacts(task.role).need === 'dependency' && needed?.type === 'resource' && needed.resource !== undefined)
    return resourceKey(needed.resource);
  const agent = task.to === undefined ? undefined : agents.all().get(task.to);
  if (agent?.session !== 'shared' || !isLeaf(task, agent)) return undefined;
  return sessionId(task, agent);
}

export function isResource(key: string): boolean {
  return resourceOf(key) !== undefined;
}
