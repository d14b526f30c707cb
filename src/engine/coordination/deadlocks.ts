/**
 * Breaks the circles that appear in the wait-for graph (who-waits.ts), and refuses what would close one. Nobody gives way before the records of
 * the circle were read once more; then everybody who finds it cancels the same ask.
 */
import type { Dependency } from '../../domain/coordination/dependency.js';
import { hash53 } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import type { Problem } from '../../domain/problem.js';
import { isEnded, type Task, type WantedChild } from '../../domain/task/task.js';
import { breakCycle, wouldDeadlock, type Link } from '../../rules/coordination/deadlock.js';
import { nodeBudget, nodeKind, turnKey, turnNode } from '../../rules/coordination/wait-node.js';
import { askCoordinator, circleKey } from './ask-coordinator.js';
import { fail } from '../tasks/settle.js';
import type { Ports } from '../core/context.js';
import { tellImpossible } from './report-deadlock.js';
import { asksOf, holdersOf, isResource, turnNeeded, whoWaits, type WhoWaits } from './waits.js';

interface Waiting extends Pick<WhoWaits, 'find' | 'isHeldUp' | 'holderOf' | 'lookAgain'> {
  /** Looks at what changed. True if a circle was found and somebody has to give way: the intents say who. */
  look(): Promise<boolean>;
  /** Why this child must not be asked for: its asker would wait for itself. */
  refuse(asker: Task, child: WantedChild): Promise<Problem | undefined>;
}

export function waiting(context: Ports): Waiting {
  const graph = whoWaits(context);
  const { find, isHeldUp, holderOf, lookAgain } = graph;
  return { look, refuse, find, isHeldUp, holderOf, lookAgain };

  async function look(): Promise<boolean> {
    await graph.look();
    let moved = false;
    for (const circle of graph.circles()) moved = (await unlock(circle)) || moved;
    return moved;
  }

  /**
   * Looks once more at every record of the circle, as it is now: another process may have moved one of them. Then everybody who finds
   * this circle cancels the same ask, and of several cancels one is carried out.
   */
  async function unlock(circle: readonly string[]): Promise<boolean> {
    const links = await readLinks(circle);
    if (links === undefined) return false;
    const broken = breakCycle(circle, (id) => links.get(id), context.config.coordination.mode);
    if (broken === undefined) return false;
    if (broken.kind === 'impossible') return failAll(circle, links, broken.error);
    const { victim, cancelled, rule, error } = broken;
    const key = circleKey(circle, (node) => links.get(node));
    const id = `deadlock-${key}-${hash53(cancelled)}`;
    if ((await context.intents.list()).some((intent) => intent.id === id)) return true;
    // Asked before anybody fails: a crash in between finds the circle again, and asks nothing twice.
    const lost = victim === cancelled && links.get(victim)!.state === 'pending' ? [links.get(victim)!.task] : [];
    const handled = lost.length === 0 ? undefined : await askCoordinator(context, circle, key, lost);
    const at = context.clock.now().toISOString();
    const deadlock = { cycle: [...circle], victim, rule, ...(handled === undefined ? {} : { handled }) };
    await context.intents.submit({ kind: 'cancel', id, task: cancelled, by: 'engine', at, problem: error, deadlock });
    return true;
  }

  /** Undefined if the circle is none any more; what is known of it is then looked at again. */
  async function readLinks(circle: readonly string[]): Promise<Map<string, Link> | undefined> {
    const links = new Map<string, Link>();
    for (const node of circle) {
      if (nodeKind(node) !== 'task') continue;
      const placed = await context.tasks.read(node);
      if (placed === undefined || isEnded(placed.state) || placed.state === 'active') return undefined;
      links.set(node, { task: placed.task, state: placed.state });
    }
    const keys = circle.flatMap((node) => turnKey(node) ?? []);
    const holding = await Promise.all(keys.map((key) => context.locks.holder(key)));
    const holds = circle.every((node, i) => {
      const next = circle[(i + 1) % circle.length]!;
      const key = turnKey(node);
      if (key !== undefined) return holding[keys.indexOf(key)] === next;
      const short = links.get(nodeBudget(node) ?? '');
      if (short !== undefined) return holdersOf(short).includes(next);
      const link = links.get(node)!;
      const nextKey = turnKey(next);
      return nextKey === undefined ? asksOf(link).includes(next) : turnNeeded(context, link.task) === nextKey;
    });
    return holds ? links : undefined;
  }

  /** Whoever fails the first of them tells it. */
  async function failAll(
    circle: readonly string[],
    links: ReadonlyMap<string, Link>,
    error: Problem,
  ): Promise<boolean> {
    const key = circleKey(circle, (node) => links.get(node));
    const lost = [...links.values()];
    const handled = await askCoordinator(
      context,
      circle,
      key,
      lost.map(({ task }) => task),
    );
    const [first] = circle.toSorted(compareText);
    let moved = false;
    for (const { task, state } of lost) {
      const { id, to } = task;
      const claim = await context.tasks.claim(id, to ?? 'nobody');
      if (claim === undefined) continue;
      if (claim.from !== state) {
        await context.tasks.release(claim, claim.task); // it moved on since the cycle was read, so it is looked at again
        continue;
      }
      await fail(context, claim, claim.task, error);
      moved = true;
      if (id === first) tellImpossible(context, circle, first, handled);
    }
    return moved;
  }

  async function refuse(asker: Task, child: WantedChild): Promise<Problem | undefined> {
    for (const id of [...(child.dependencies ?? []), ...after(child)]) {
      const circle = id === asker.id ? [id] : graph.wouldClose(asker.id, id);
      if (circle !== undefined) return wouldDeadlock([asker.id, child.id, ...circle.slice(1)]);
    }
    const key = turnNeeded(context, child);
    const holder = key === undefined ? undefined : await context.locks.holder(key);
    if (key === undefined || holder === undefined || (isResource(key) && holder === asker.id)) return undefined;
    const circle = holder === asker.id ? [holder] : graph.wouldClose(asker.id, holder);
    return circle && wouldDeadlock([asker.id, child.id, turnNode(key), ...circle.slice(1)]);
  }
}

/** The task that must end before a sequence can go on. */
function after({ context }: WantedChild): string[] {
  const needed = context?.['dependency'] as Partial<Dependency> | undefined;
  return needed?.type === 'sequence' && needed.after !== undefined ? [needed.after] : [];
}
