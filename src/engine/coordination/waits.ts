/** The wait-for graph of the open tasks. Each look only reads tasks that changed since the last. */

// - A parked task waits for the tasks it asked for, a pending one for its dependencies.
// - A task of an agent with a shared conversation waits for its turn, and the turn waits for the
//   task that has it. Resources work the same way.
// - A task whose open children hold all of its budget waits for the budget, and the budget waits
//   for them.
// - A pending task waits for capacity at an agent with a limit. Parked tasks take no capacity
//   (core/capacity.ts), so agents only wait for running tasks, which wait for nothing. These edges
//   cannot close a cycle and are only drawn for people.
// - A question for the human waits for the human, who waits for nothing.
import { roleFacts } from '../../domain/task/role.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import { ENGINE, HUMAN, isForHuman, type OpenState, type Task } from '../../domain/task/task.js';
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

export interface WaitForGraph {
  /** Updates the graph from the open tasks. Free if nothing changed. */
  look(): Promise<void>;
  find(id: string): Link | undefined;
  /** The nodes this node waits for; they may include ended tasks. */
  waitsOf(node: string): Iterable<string>;
  /** True if this task waits for an open task or for a turn. */
  isHeldUp(task: string): boolean;
  /** The task that has this turn or resource, as of the last look. */
  holderOf(key: string): string | undefined;
  /** Updates one turn whose holder changed since the last look. */
  lookAgain(key: string): Promise<void>;
  /** The current cycles, each starting with the wait that closed it. */
  cycles(): Iterable<string[]>;
  wouldClose(from: string, to: string): string[] | undefined;
}

interface TrackedTask extends Link {
  /** The turn that it needs to start or continue. */
  key: string | undefined;
  look: number;
}

/** `worksOn`: the tasks that use up an agent's capacity; only for display. */
export function waits(
  context: Pick<EngineContext, 'tasks' | 'locks' | 'agents'>,
  worksOn: (agent: string) => readonly string[] = nothing,
): WaitForGraph {
  const graph = waitGraph();
  const tracked = new Map<string, TrackedTask>();
  /** For each turn, the open tasks that wait for it or have it. */
  const queues = new Map<string, Set<string>>();
  const holders = new Map<string, string>();
  /** The waits of each node, including those refused because they close a cycle. */
  const drawn = new Map<string, ReadonlySet<string>>();
  const refused = new Map<string, [from: string, to: string]>();
  let looks = 0;
  let version: number | undefined;

  return {
    look,
    find: (id) => tracked.get(id),
    waitsOf: (node) => drawn.get(node) ?? [],
    isHeldUp: (task) => [...(drawn.get(task) ?? [])].some((node) => tracked.has(node) || turnKey(node) !== undefined),
    holderOf: (key) => holders.get(key),
    lookAgain: (key) => lookAtTurns([key]),
    cycles,
    wouldClose: graph.wouldClose,
  };

  async function look(): Promise<void> {
    const now = context.tasks.version();
    if (now === version) return;
    const changed = version === undefined ? undefined : context.tasks.changedSince(version);
    if (changed === undefined) lookAtTasks();
    else for (const id of new Set(changed)) lookAtTask(id);
    await lookAtTurns([...queues.keys()]);
    version = now;
  }

  function* cycles(): Iterable<string[]> {
    for (const [edge, [from, to]] of refused) {
      const cycle = drawn.get(from)?.has(to) === true ? graph.addEdge(from, to) : undefined;
      if (cycle === undefined) refused.delete(edge);
      else yield cycle;
    }
  }

  function lookAtTask(id: string): void {
    const before = tracked.get(id);
    const open = context.tasks.getOpen(id);
    if (open === undefined) return before && forget(id, before);
    if (before?.task !== open.task || before.state !== open.state) track(open.task, open.state);
  }

  function lookAtTasks(): void {
    looks++;
    let seen = 0;
    for (const { task, state } of context.tasks.open()) {
      seen++;
      const before = tracked.get(task.id);
      if (before === undefined || before.task !== task || before.state !== state) track(task, state);
      else before.look = looks;
    }
    if (seen === tracked.size) return;
    for (const [id, entry] of tracked) if (entry.look !== looks) forget(id, entry);
  }

  function track(task: Task, state: OpenState): void {
    const { id } = task;
    const key = turnNeeded(context, task);
    const before = tracked.get(id);
    if (before?.key !== key) {
      leaveQueue(id, before?.key);
      if (key !== undefined) queues.set(key, (queues.get(key) ?? new Set()).add(id));
    }
    tracked.set(id, { task, state, key, look: looks });
    redraw(id, before, tracked.get(id));
  }

  function forget(id: string, before: TrackedTask): void {
    tracked.delete(id);
    leaveQueue(id, before.key);
    redraw(id, before, undefined);
  }

  function redraw(id: string, before: TrackedTask | undefined, now: TrackedTask | undefined): void {
    draw(id);
    if (isShort(before) || isShort(now)) draw(budgetNode(id));
    if (worksOn === nothing) return;
    for (const node of drawn.get(id) ?? []) if (nodeAgent(node) !== undefined) draw(node);
  }

  function leaveQueue(id: string, key: string | undefined): void {
    const queue = key === undefined ? undefined : queues.get(key);
    if (queue === undefined || key === undefined || !queue.delete(id) || queue.size > 0) return;
    queues.delete(key);
    holders.delete(key);
    draw(turnNode(key));
  }

  /** Reads all holders first, then draws without awaiting: readers never see half a graph. */
  async function lookAtTurns(keys: readonly string[]): Promise<void> {
    const asked = keys.filter(hasHolder);
    const holding = await Promise.all(asked.map((key) => context.locks.holder(key)));
    const now = new Map(asked.map((key, i) => [key, holding[i]]));
    for (const key of keys) drawTurn(key, now.get(key));
  }

  /** A task alone in its queue does not wait. A task outside the queue may hold a resource. */
  function hasHolder(key: string): boolean {
    return (queues.get(key)?.size ?? 0) > 1 || (isResource(key) && queues.has(key));
  }

  function drawTurn(key: string, holder: string | undefined): void {
    const queue = queues.get(key);
    if (queue === undefined || holder === holders.get(key)) return;
    if (holder === undefined) holders.delete(key);
    else holders.set(key, holder);
    draw(turnNode(key));
    for (const id of queue) draw(id);
  }

  /** Updates the edges of this node. */
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
    const budgetOwner = nodeBudget(node);
    const entry = tracked.get(budgetOwner ?? node);
    if (entry === undefined) return [];
    if (budgetOwner !== undefined) return holdersOf(entry);
    const turn = turnWait(entry);
    // A resource dependency also names the holder. The edge through the resource is more precise,
    // so it replaces the direct one.
    const asks = turn.length === 0 ? asksOf(entry) : asksOf(entry).filter((id) => id !== holders.get(entry.key!));
    return [...asks, ...turn, ...capacityWait(entry)];
  }

  function turnWait({ task, state, key }: TrackedTask): string[] {
    const holder = key === undefined ? undefined : holders.get(key);
    if (holder === undefined || state === 'active' || holder === task.id) return [];
    // A resource that the asker holds is available to its children.
    return isResource(key!) && holder === task.parent ? [] : [turnNode(key!)];
  }

  function capacityWait({ task: { to, role }, state }: TrackedTask): string[] {
    if (state !== 'pending' || to === undefined || to === HUMAN || to === ENGINE || !roleFacts(role).takesCapacity)
      return [];
    const limit = context.agents.all().get(to)?.maxConcurrentTasks ?? Infinity;
    return limit === Infinity ? [] : [agentNode(to)];
  }
}

function nothing(): readonly string[] {
  return [];
}

function isShort(link: Link | undefined): boolean {
  return link?.task.waits?.budget !== undefined;
}

/** The tasks this one asked for or depends on. A running task waits for nothing. */
export function asksOf({ task, state }: Link): readonly string[] {
  if (state === 'active') return [];
  if (isForHuman(task)) return [HUMAN_NODE];
  if (state === 'pending') return task.dependencies;
  return task.waits?.budget === undefined ? (task.waits?.tasks ?? []) : [budgetNode(task.id)];
}

export function holdersOf({ task, state }: Link): readonly string[] {
  return state === 'waiting' && task.waits?.budget !== undefined ? (task.waits.tasks ?? []) : [];
}

/** The turn that a task needs: its agent's shared conversation, or the resource it asks for. */
export function turnNeeded(
  { agents }: Pick<EngineContext, 'agents'>,
  task: Pick<Task, 'id' | 'role' | 'to' | 'session'> & { context?: Record<string, unknown> },
): string | undefined {
  const dependency = task.context?.['dependency'] as Partial<Dependency> | undefined;
  if (
    roleFacts(task.role).need === 'dependency' &&
    dependency?.type === 'resource' &&
    dependency.resource !== undefined
  )
    return resourceKey(dependency.resource);
  const agent = task.to === undefined ? undefined : agents.all().get(task.to);
  if (agent?.session !== 'shared' || !isLeaf(task, agent)) return undefined;
  return sessionId(task, agent);
}

export function isResource(key: string): boolean {
  return resourceOf(key) !== undefined;
}
