/**
 * Breaks cycles in the wait-for graph (waits.ts) and refuses requests that would close one. The
 * records of a cycle are read again before a task gives way, and every process cancels the same
 * request.
 */
import type { Dependency } from '../../domain/coordination/dependency.js';
import { hash53 } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import type { Problem } from '../../domain/problem.js';
import { isEnded, type Task, type WantedChild } from '../../domain/task/task.js';
import { breakCycle, wouldDeadlock, type Link } from '../../rules/coordination/deadlock.js';
import { nodeBudget, nodeKind, turnKey, turnNode } from '../../rules/coordination/wait-node.js';
import { askCoordinator, cycleKey } from './ask-coordinator.js';
import { fail } from '../tasks/settle.js';
import type { Ports } from '../core/context.js';
import { reportImpossible } from './report-deadlock.js';
import { asksOf, holdersOf, isResource, turnNeeded, waits, type WaitForGraph } from './waits.js';

interface Deadlocks extends Pick<WaitForGraph, 'find' | 'isHeldUp' | 'holderOf' | 'lookAgain'> {
  /** Updates the graph. True if a cycle was found; the intents then say which task gives way. */
  look(): Promise<boolean>;
  /** Why this child must not be created: its asker would wait for itself. */
  refuse(asker: Task, child: WantedChild): Promise<Problem | undefined>;
}

export function deadlocks(context: Ports): Deadlocks {
  const graph = waits(context);
  const { find, isHeldUp, holderOf, lookAgain } = graph;
  return { look, refuse, find, isHeldUp, holderOf, lookAgain };

  async function look(): Promise<boolean> {
    await graph.look();
    let moved = false;
    for (const cycle of graph.cycles()) moved = (await unlock(cycle)) || moved;
    return moved;
  }

  /**
   * Reads every record again, because another process may have moved one. The intent's id is
   * derived from the cycle, so several processes cancel once.
   */
  async function unlock(cycle: readonly string[]): Promise<boolean> {
    const links = await readLinks(cycle);
    if (links === undefined) return false;
    const broken = breakCycle(cycle, (id) => links.get(id), context.config.coordination.mode);
    if (broken === undefined) return false;
    if (broken.kind === 'impossible') return failAll(cycle, links, broken.error);
    const { victim, cancelled, rule, error } = broken;
    const key = cycleKey(cycle, (node) => links.get(node));
    const id = `deadlock-${key}-${hash53(cancelled)}`;
    if ((await context.intents.list()).some((intent) => intent.id === id)) return true;
    // The coordinator is asked first: after a crash in between, the cycle is found again, and the
    // coordinator's task already exists.
    const lost = victim === cancelled && links.get(victim)!.state === 'pending' ? [links.get(victim)!.task] : [];
    const handled = lost.length === 0 ? undefined : await askCoordinator(context, cycle, key, lost);
    const at = context.clock.now().toISOString();
    const deadlock = { cycle: [...cycle], victim, rule, handled };
    await context.intents.submit({ kind: 'cancel', id, task: cancelled, by: 'engine', at, problem: error, deadlock });
    return true;
  }

  async function readLinks(cycle: readonly string[]): Promise<Map<string, Link> | undefined> {
    const links = new Map<string, Link>();
    for (const node of cycle) {
      if (nodeKind(node) !== 'task') continue;
      const placed = await context.tasks.read(node);
      if (placed === undefined || isEnded(placed.state) || placed.state === 'active') return undefined;
      links.set(node, { task: placed.task, state: placed.state });
    }
    const keys = cycle.flatMap((node) => turnKey(node) ?? []);
    const holding = await Promise.all(keys.map((key) => context.locks.holder(key)));
    const isCycle = cycle.every((node, i) => {
      const next = cycle[(i + 1) % cycle.length]!;
      const key = turnKey(node);
      if (key !== undefined) return holding[keys.indexOf(key)] === next;
      const short = links.get(nodeBudget(node) ?? '');
      if (short !== undefined) return holdersOf(short).includes(next);
      const link = links.get(node)!;
      const nextKey = turnKey(next);
      return nextKey === undefined ? asksOf(link).includes(next) : turnNeeded(context, link.task) === nextKey;
    });
    return isCycle ? links : undefined;
  }

  /** The process that fails the first task by id also reports the deadlock. */
  async function failAll(cycle: readonly string[], links: ReadonlyMap<string, Link>, error: Problem): Promise<boolean> {
    const key = cycleKey(cycle, (node) => links.get(node));
    const lost = [...links.values()];
    const handled = await askCoordinator(
      context,
      cycle,
      key,
      lost.map(({ task }) => task),
    );
    const [first] = cycle.toSorted(compareText);
    let moved = false;
    for (const { task, state } of lost) {
      const { id, to } = task;
      const claim = await context.tasks.claim(id, to ?? 'nobody');
      if (claim === undefined) continue;
      if (claim.from !== state) {
        // the task moved since the cycle was read; the next look decides
        await context.tasks.release(claim, claim.task);
        continue;
      }
      await fail(context, claim, claim.task, error);
      moved = true;
      if (id === first) reportImpossible(context, cycle, first, handled);
    }
    return moved;
  }

  async function refuse(asker: Task, child: WantedChild): Promise<Problem | undefined> {
    for (const id of [...(child.dependencies ?? []), ...after(child)]) {
      const cycle = id === asker.id ? [id] : graph.wouldClose(asker.id, id);
      if (cycle !== undefined) return wouldDeadlock([asker.id, child.id, ...cycle.slice(1)]);
    }
    const key = turnNeeded(context, child);
    const holder = key === undefined ? undefined : await context.locks.holder(key);
    if (key === undefined || holder === undefined || (isResource(key) && holder === asker.id)) return undefined;
    const cycle = holder === asker.id ? [holder] : graph.wouldClose(asker.id, holder);
    return cycle && wouldDeadlock([asker.id, child.id, turnNode(key), ...cycle.slice(1)]);
  }
}

/** The task that a `sequence` dependency waits for. */
function after({ context }: WantedChild): string[] {
  const dependency = context?.['dependency'] as Partial<Dependency> | undefined;
  return dependency?.type === 'sequence' && dependency.after !== undefined ? [dependency.after] : [];
}
