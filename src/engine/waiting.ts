/**
 * Keeps the wait-for graph in step with the open tasks, and breaks the circles that appear in it. Only tasks whose record changed since the
 * last look are looked at again. What waits for what:
 * - a parked task for the tasks it asked for, a pending one for its dependencies;
 * - a task of an agent with a shared conversation for its turn, and the turn for the task that has it until it ends; a resource likewise;
 * - a question to the human for nobody: a person can answer, so no circle goes through one.
 * An agent with too much to do is not waited for in this sense: whoever works waits for nobody, so there will be room. Nor is a budget: what
 * does not fit into it is refused at once.
 */
import type { Dependency } from '../domain/dependency.js';
import { hash53 } from '../domain/id.js';
import { compareText } from '../domain/order.js';
import type { Problem } from '../domain/problem.js';
import { HUMAN, isEnded, type OpenState, type Task, type WantedChild } from '../domain/task.js';
import { breakCircle, turnKey, turnNode, wouldDeadlock, type Link } from '../rules/deadlock.js';
import { isLeaf } from '../rules/decide.js';
import { waitGraph } from '../rules/wait-graph.js';
import { askCoordinator, circleKey } from './ask-coordinator.js';
import { sessionId } from './conversation.js';
import { fail } from './end.js';
import type { Parts } from './parts.js';
import { tellImpossible } from './tell-broken.js';

export interface Waiting {
  /** Looks at what changed. True if a circle was found and somebody has to give way: the intents say who. */
  look(): Promise<boolean>;
  /** Why this child must not be asked for: its asker would wait for itself. */
  refuse(asker: Task, child: WantedChild): Problem | undefined;
  /** A task as it was at the last look. */
  find(id: string): Link | undefined;
}

interface Known extends Link {
  /** The turn it needs in order to begin or go on. */
  key: string | undefined;
  look: number;
}

export function waiting(parts: Parts): Waiting {
  const { store } = parts;
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

  return { look, refuse, find: (id) => known.get(id) };

  async function look(): Promise<boolean> {
    looks++;
    const now = store.changes?.();
    if (now === undefined || now !== changes) lookAtTasks();
    changes = now;
    for (const [key, line] of lines) lookAtTurn(key, line);
    let moved = false;
    for (const [edge, [from, to]] of refused) {
      if (drawn.get(from)?.has(to) !== true) refused.delete(edge);
      else {
        const circle = graph.addEdge(from, to);
        if (circle === undefined) refused.delete(edge);
        else moved = (await unlock(circle)) || moved;
      }
    }
    return moved;
  }

  function lookAtTasks(): void {
    let seen = 0;
    for (const { task, state } of store.open()) {
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
    const key = turnNeeded(parts, task);
    const before = known.get(id);
    if (before?.key !== key) {
      leaveLine(id, before?.key);
      if (key !== undefined) lines.set(key, (lines.get(key) ?? new Set()).add(id));
    }
    known.set(id, { task, state, key, look: looks });
    draw(id);
  }

  function forget(id: string, { key }: Known): void {
    known.delete(id);
    leaveLine(id, key);
    draw(id);
  }

  function leaveLine(id: string, key: string | undefined): void {
    const line = key === undefined ? undefined : lines.get(key);
    if (line === undefined || key === undefined || !line.delete(id) || line.size > 0) return;
    lines.delete(key);
    holders.delete(key);
    draw(turnNode(key));
  }

  /** Whoever is alone in line waits for nobody in it; a resource may be held by somebody who is in no line. */
  function lookAtTurn(key: string, line: ReadonlySet<string>): void {
    const holder = line.size > 1 || isResource(key) ? store.turnOf(key) : undefined;
    const before = holders.get(key);
    if (holder === before) return;
    if (holder === undefined) holders.delete(key);
    else holders.set(key, holder);
    draw(turnNode(key));
    for (const id of line) draw(id);
  }

  /** Brings the graph in step with what this node waits for now. */
  function draw(node: string): void {
    const wanted = new Set(waitsOf(node));
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

  function waitsOf(node: string): string[] {
    const key = turnKey(node);
    if (key !== undefined) return holders.has(key) ? [holders.get(key)!] : [];
    const one = known.get(node);
    return one === undefined ? [] : [...asksOf(one), ...inLine(one)];
  }

  function inLine({ task, state, key }: Known): string[] {
    const holder = key === undefined ? undefined : holders.get(key);
    if (holder === undefined || state === 'active' || holder === task.id) return [];
    // What somebody holds already is there for what they asked.
    return isResource(key!) && holder === task.parent ? [] : [turnNode(key!)];
  }

  /**
   * Looks once more at every record of the circle, as it is now: another process may have moved one of them. Then everybody who finds
   * this circle cancels the same ask, and of several cancels one is carried out.
   */
  async function unlock(circle: readonly string[]): Promise<boolean> {
    const links = await readLinks(circle);
    if (links === undefined) return false;
    const broken = breakCircle(circle, (id) => links.get(id), parts.config.coordination.mode);
    if (broken === undefined) return false;
    if (broken.kind === 'impossible') return failAll(circle, links, broken.error);
    const { victim, cancelled, rule, error } = broken;
    const id = `deadlock-${circleKey(circle)}-${hash53(cancelled)}`;
    if (store.intents().some((intent) => intent.id === id)) return true;
    // Asked before anybody fails: a crash in between finds the circle again, and asks nothing twice.
    const lost = victim === cancelled && links.get(victim)!.state === 'pending' ? [links.get(victim)!.task] : [];
    const handled = lost.length === 0 ? undefined : await askCoordinator(parts, circle, lost);
    const at = parts.clock.now().toISOString();
    const deadlock = { cycle: [...circle], victim, rule, ...(handled === undefined ? {} : { handled }) };
    await store.submit({ kind: 'cancel', id, task: cancelled, by: 'engine', at, problem: error, deadlock });
    return true;
  }

  /** Undefined if the circle is none any more; what is known of it is then looked at again. */
  async function readLinks(circle: readonly string[]): Promise<Map<string, Link> | undefined> {
    const links = new Map<string, Link>();
    for (const node of circle) {
      if (turnKey(node) !== undefined) continue;
      const placed = await store.read(node);
      if (placed === undefined || isEnded(placed.state) || placed.state === 'active') return undefined;
      links.set(node, { task: placed.task, state: placed.state });
    }
    const holds = circle.every((node, i) => {
      const next = circle[(i + 1) % circle.length]!;
      const key = turnKey(node);
      if (key !== undefined) return store.turnOf(key) === next;
      const link = links.get(node)!;
      const nextKey = turnKey(next);
      return nextKey === undefined ? asksOf(link).includes(next) : turnNeeded(parts, link.task) === nextKey;
    });
    return holds ? links : undefined;
  }

  /** Whoever fails the first of them tells it. */
  async function failAll(
    circle: readonly string[],
    links: ReadonlyMap<string, Link>,
    error: Problem,
  ): Promise<boolean> {
    const lost = [...links.values()].map(({ task }) => task);
    const handled = await askCoordinator(parts, circle, lost);
    const [first] = circle.toSorted(compareText);
    let moved = false;
    for (const { id, to } of lost) {
      const claim = store.claim(id, to ?? 'nobody');
      if (claim === undefined) continue;
      await fail(parts, claim, claim.task, error);
      moved = true;
      if (id === first) tellImpossible(parts, circle, first, handled);
    }
    return moved;
  }

  function refuse(asker: Task, child: WantedChild): Problem | undefined {
    for (const id of [...(child.dependencies ?? []), ...after(child)]) {
      const circle = id === asker.id ? [id] : graph.wouldClose(asker.id, id);
      if (circle !== undefined) return wouldDeadlock([asker.id, child.id, ...circle.slice(1)]);
    }
    const key = turnNeeded(parts, child);
    const holder = key === undefined ? undefined : store.turnOf(key);
    if (key === undefined || holder === undefined || (isResource(key) && holder === asker.id)) return undefined;
    const circle = holder === asker.id ? [holder] : graph.wouldClose(asker.id, holder);
    return circle && wouldDeadlock([asker.id, child.id, turnNode(key), ...circle.slice(1)]);
  }
}

/** Who works waits for nobody. */
function asksOf({ task, state }: Link): readonly string[] {
  if (state === 'active' || task.to === HUMAN) return [];
  return state === 'pending' ? task.dependencies : (task.waits?.tasks ?? []);
}

/** The turn that a task must have: that of its agent's shared conversation, or of the resource it asks for. */
export function turnNeeded(
  { agents }: Pick<Parts, 'agents'>,
  task: Pick<Task, 'id' | 'role' | 'to' | 'session'> & { context?: Record<string, unknown> },
): string | undefined {
  const needed = task.context?.['dependency'] as Partial<Dependency> | undefined;
  if (task.role === 'dependency' && needed?.type === 'resource' && needed.resource !== undefined)
    return resourceKey(needed.resource);
  const agent = task.to === undefined ? undefined : agents.all().get(task.to);
  if (agent?.session !== 'shared' || !isLeaf(task, agent)) return undefined;
  return sessionId(task, agent);
}

/** The task that must end before a sequence can go on. */
function after({ context }: WantedChild): string[] {
  const needed = context?.['dependency'] as Partial<Dependency> | undefined;
  return needed?.type === 'sequence' && needed.after !== undefined ? [needed.after] : [];
}

export function resourceKey(name: string): string {
  return `resource-${name}`;
}

function isResource(key: string): boolean {
  return key.startsWith('resource-');
}
