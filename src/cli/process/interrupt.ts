/** Ctrl-C: the first returns running tasks to the queue, the second ends the process at once. */
import type { Workspace } from '../../app/index.js';
import type { Io } from './io.js';

export async function untilInterrupt<T>(
  io: Io,
  workspace: Workspace,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const off = onInterrupt(io, () => {
    stop.abort(); // Comes first, so that released tasks are not taken again.
    void workspace.engine.stop();
  });
  try {
    return await work(stop.signal);
  } finally {
    off();
  }
}

/** Calls back on the first interrupt; the second ends the process. Returns the unsubscriber. */
export function onInterrupt(io: Io, first: () => void): () => void {
  let count = 0;
  return io.onInterrupt(() => {
    if (++count > 1) io.exit(130);
    else first();
  });
}

export function interrupted(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const off = onInterrupt(io, () => {
      off();
      resolve();
    });
  });
}
