/**
 * The cost of every task in a tree, by itself and with everything under it. A total is exactly the
 * own cost plus the totals of the children, so the numbers add up at every node, even for open
 * tasks.
 */
import type { Placed } from '../../domain/task/task.js';
import { addUsage, NO_USAGE, subtractUsage, sumUsage, type Usage } from '../../domain/budget/usage.js';

interface Totals {
  own: Usage;
  total: Usage;
}

/** `all`: parents before their children. */
export function totals(all: readonly Placed[]): Map<string, Totals> {
  const below = new Map<string, Placed[]>();
  for (const placed of all) {
    const { parent } = placed.task;
    if (parent === undefined) continue;
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [placed]);
    else siblings.push(placed);
  }
  const byId = new Map<string, Totals>();
  for (const { task } of [...all].reverse()) {
    const children = below.get(task.id) ?? [];
    const own = task.own_usage ?? rest(task.usage, children);
    // A child that comes first is also its ancestor: a person made a cycle of parents.
    const total = children.reduce((sum, child) => addUsage(sum, byId.get(child.task.id)?.total ?? NO_USAGE), own);
    byId.set(task.id, { own, total });
  }
  return byId;
}

/** Records of earlier versions contain only the total, so the own cost is computed from it. */
function rest(usage: Usage = NO_USAGE, children: readonly Placed[]): Usage {
  const left = subtractUsage(usage, sumUsage(children.flatMap(({ task }) => task.usage ?? [])));
  return Object.fromEntries(
    Object.entries(left).map(([name, value]) => [name, Math.max(0, value)]),
  ) as unknown as Usage;
}
