/**
 * What every task of a tree cost by itself and with all under it. A total is its own cost and the totals of its children,
 * nothing else, so that the numbers add up at every node, also while some of them are still at work.
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
  for (const one of all) {
    const { parent } = one.task;
    if (parent !== undefined) below.set(parent, [...(below.get(parent) ?? []), one]);
  }
  const found = new Map<string, Totals>();
  for (const { task } of [...all].reverse()) {
    const children = below.get(task.id) ?? [];
    const own = task.own_usage ?? rest(task.usage, children);
    const total = children.reduce((sum, child) => addUsage(sum, found.get(child.task.id)!.total), own);
    found.set(task.id, { own, total });
  }
  return found;
}

/** Records of earlier versions say only what they cost with all under them. */
function rest(usage: Usage = NO_USAGE, children: readonly Placed[]): Usage {
  const left = subtractUsage(usage, sumUsage(children.flatMap(({ task }) => task.usage ?? [])));
  return Object.fromEntries(
    Object.entries(left).map(([name, value]) => [name, Math.max(0, value)]),
  ) as unknown as Usage;
}
