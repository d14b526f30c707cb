/** Counts effects that this process started and that have no outcome yet, by root. */
import type { EngineContext } from './context.js';

type Counts = Pick<EngineContext, 'effectsUnderWay'>;

export async function duringEffect<T>(context: Counts, root: string, run: () => Promise<T>): Promise<T> {
  const counts = context.effectsUnderWay;
  counts.set(root, (counts.get(root) ?? 0) + 1);
  try {
    return await run();
  } finally {
    const left = counts.get(root)! - 1;
    if (left > 0) counts.set(root, left);
    else counts.delete(root);
  }
}

export function effectsUnderWay(context: Counts, root: string): number {
  return context.effectsUnderWay.get(root) ?? 0;
}
