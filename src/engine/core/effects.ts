/** Effects that this process has begun and that have no outcome yet, by root. Those of other processes belong to tasks that they hold. */
import type { Store } from '../../ports/store.js';

const underWay = new WeakMap<Store, Map<string, number>>();

export async function duringEffect<T>(store: Store, root: string, run: () => Promise<T>): Promise<T> {
  const counts = underWay.get(store) ?? new Map<string, number>();
  underWay.set(store, counts);
  counts.set(root, (counts.get(root) ?? 0) + 1);
  try {
    return await run();
  } finally {
    const left = counts.get(root)! - 1;
    if (left > 0) counts.set(root, left);
    else counts.delete(root);
  }
}

export function effectsUnderWay(store: Store, root: string): number {
  return underWay.get(store)?.get(root) ?? 0;
}
