/** Ctrl-C: the first lets every task be put back in order, the second leaves at once. Nothing is lost either way. */
import type { Workspace } from '../app/index.js';

export async function untilInterrupt<T>(workspace: Workspace, work: () => Promise<T>): Promise<T> {
  const off = onInterrupt(() => void workspace.engine.stop());
  try {
    return await work();
  } finally {
    off();
  }
}

/** Calls back on the first SIGINT or SIGTERM; the second ends the process. Returns how to stop listening. */
export function onInterrupt(first: () => void): () => void {
  let count = 0;
  const handle = (): void => {
    if (++count > 1) process.exit(130);
    first();
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return () => {
    process.off('SIGINT', handle);
    process.off('SIGTERM', handle);
  };
}
