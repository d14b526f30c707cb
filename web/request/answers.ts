/**
 * Guards around answers: a key that was meant for one request never answers another that has just
 * appeared.
 */
import { signal } from '@preact/signals';
import type { IntentKind, Request } from '../../src/web/base/contract.ts';
import { send, type Sent } from '../api.ts';
import { whyNot } from '../parts.tsx';

/** Keys do nothing for this long after another request has appeared. */
const PAUSE_MS = 500;

const pausedAt = signal(-Infinity);

export function pauseAnswers(): void {
  pausedAt.value = performance.now();
}

export async function answerRequest(
  request: Request,
  kind: IntentKind,
  args: Record<string, unknown> = {},
): Promise<Sent> {
  pauseAnswers();
  return await send(kind, request.id, args, request.seen);
}

export function mayAnswer(request: Request): boolean {
  if (whyNot() !== undefined || request.answeredAt !== undefined || request.isForeign === true) return false;
  return performance.now() - pausedAt.value >= PAUSE_MS;
}
