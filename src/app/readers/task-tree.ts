/**
 * A task and all its descendants, parents first, children in the order of their creation. Parent
 * links are user-editable and may form a cycle, so each task is visited once.
 */
import { compareText } from '../../domain/order.js';
import type { Placed } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';

export async function taskTree(store: Store, id: string): Promise<Placed[]> {
  const top = await store.tasks.read(id);
  if (top === undefined) return [];
  await store.tasks.scan();
  const byParent = new Map<string, Placed[]>();
  for (const placed of [...store.tasks.open(), ...(await store.tasks.ended({ root: top.task.root }))]) {
    const { parent } = placed.task;
    if (parent === undefined) continue;
    const siblings = byParent.get(parent);
    if (siblings === undefined) byParent.set(parent, [placed]);
    else siblings.push(placed);
  }
  const out: Placed[] = [];
  const stack = [top];
  const seen = new Set<string>();
  while (stack.length > 0) {
    const placed = stack.pop()!;
    if (seen.has(placed.task.id)) continue;
    seen.add(placed.task.id);
    out.push(placed);
    const children = (byParent.get(placed.task.id) ?? []).sort(
      (a, b) => compareText(a.task.created_at, b.task.created_at) || compareText(a.task.id, b.task.id),
    );
    for (const child of children.reverse()) stack.push(child);
  }
  return out;
}
