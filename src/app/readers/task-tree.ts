/** A task and all its descendants, parents first, children in the order of their creation. */
import { compareText } from '../../domain/order.js';
import type { Placed } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';

export async function taskTree(store: Store, id: string): Promise<Placed[]> {
  const top = await store.tasks.read(id);
  if (top === undefined) return [];
  await store.tasks.scan();
  const byParent = new Map<string, Placed[]>();
  for (const placed of [...store.tasks.open(), ...(await store.tasks.ended())]) {
    const { parent } = placed.task;
    if (parent !== undefined) byParent.set(parent, [...(byParent.get(parent) ?? []), placed]);
  }
  const out: Placed[] = [];
  const stack = [top];
  while (stack.length > 0) {
    const placed = stack.pop()!;
    out.push(placed);
    const children = (byParent.get(placed.task.id) ?? []).sort(
      (a, b) => compareText(a.task.created_at, b.task.created_at) || compareText(a.task.id, b.task.id),
    );
    stack.push(...children.reverse());
  }
  return out;
}
