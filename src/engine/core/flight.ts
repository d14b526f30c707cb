/** A task that this process is working on now. */
import type { Problem } from '../../domain/problem.js';

export interface Flight {
  task: string;
  root: string;
  agent: string;
  /** Aborted with a Problem if the task is cancelled, or without one if the process is stopping. */
  stop: AbortController;
  done: Promise<void>;
  /** Nothing else starts in this process meanwhile, because the task may have killed processes. */
  isAlone: boolean;
}

/** The cancellation, or `leaving` if the process is stopping and the task goes back. */
export function stopReason(signal: AbortSignal): Problem | 'leaving' | undefined {
  if (!signal.aborted) return undefined;
  const reason = signal.reason as Problem | undefined;
  return reason !== undefined &&
    typeof reason === 'object' &&
    'code' in reason &&
    typeof reason.message === 'string' &&
    !(reason instanceof Error)
    ? reason
    : 'leaving';
}
