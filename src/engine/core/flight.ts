/** One task being worked on in this process: how it is told to stop, and what a person told it meanwhile. */
import type { Problem } from '../../domain/problem.js';

export interface Flight {
  task: string;
  agent: string;
  /** Aborted with a Problem as its reason when the task is cancelled, or without one when the process wants to leave. */
  stop: AbortController;
  done: Promise<void>;
}

/** Why a flight was stopped: cancelled with a reason, or the process leaves and the task goes back. */
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
