/** Guards around answers: a key held down answers once; the next request needs a new press. */
import { signal } from '@preact/signals';
import type { IntentKind, Request } from '../../src/web/base/contract.ts';
import { send, type Sent } from '../api.ts';
import { whyNot } from '../parts.tsx';

/** After an answer the next request appears; keys do nothing for this long. */
const PAUSE_MS = 500;

/** When the last answer was sent, over all requests. */
const answeredAt = signal(0);

export async function answerRequest(
  request: Request,
  kind: IntentKind,
  args: Record<string, unknown> = {},
): Promise<Sent> {
  answeredAt.value = Date.now();
  return await send(kind, request.id, args, request.seen);
}

export function mayAnswer(request: Request, event?: KeyboardEvent): boolean {
  if (whyNot() !== undefined || request.answeredAt !== undefined) return false;
  return event?.repeat !== true && Date.now() - answeredAt.value >= PAUSE_MS;
}
