/** Ctrl-C: the first lets every task be put back in order, the second leaves at once. Nothing is lost either way. */
import type { Workspace } from '../../app/index.js';

export async function untilInterrupt<T>(workspace: Workspace, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const off = onInterrupt(() => {
    stop.abort(); // first: else what is put back would be taken up again
    void workspace.engine.stop();
  });
  try {
    return await work(stop.signal);
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
