/**
 * The proof that a call comes from its source. The signature covers the exact bytes of the body, so
 * nothing of a body is read before it is proven. The id in a proof was signed by the sender or is
 * derived from the body, so a captured call that is sent again has the same id.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Webhook } from '../domain/config/config.js';

type Proof = { ok: true; id: string } | { ok: false; why: string };

interface Received {
  header(name: string): string | undefined;
  body: Uint8Array;
  now: Date;
}

/** Older or newer calls are refused, so a captured call soon becomes worthless. */
const TOLERANCE_MS = 5 * 60_000;

export function proofOf(kind: Webhook['kind'], secret: string, received: Received): Proof {
  return PROOFS[kind](secret, received);
}

const PROOFS: Record<Webhook['kind'], (secret: string, received: Received) => Proof> = {
  /** Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64>`. */
  standard(secret, { header, body, now }) {
    const [id = '', at = '', given = ''] = ['id', 'timestamp', 'signature'].map((name) => header(`webhook-${name}`));
    if (id === '' || at === '' || given === '') return refused('it has no webhook-id, -timestamp and -signature');
    if (!/^\d{1,12}$/.test(at) || Math.abs(Number(at) * 1000 - now.getTime()) > TOLERANCE_MS)
      return refused('its timestamp is not within five minutes of now');
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
    if (key.length === 0) return refused('there is nothing after whsec_ in its secret');
    const wanted = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
    const isSigned = given.split(' ').some((each) => isSame(each, `v1,${wanted}`));
    return isSigned ? { ok: true, id } : refused('its signature is wrong');
  },
  /** `x-hub-signature-256: sha256=<hex>`. The delivery id is not signed, so the body names it. */
  github(secret, { header, body }) {
    const given = header('x-hub-signature-256');
    if (given === undefined) return refused('it has no x-hub-signature-256');
    const wanted = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    return isSame(given, wanted) ? { ok: true, id: bodyId(body) } : refused('its signature is wrong');
  },
  /** `authorization: Bearer <token>`. With `idempotency-key`, a repeated call is one message. */
  token(secret, { header, body }) {
    const given = header('authorization');
    if (given === undefined) return refused('it has no authorization header');
    if (!isSame(given, `Bearer ${secret}`)) return refused('its token is wrong');
    return { ok: true, id: header('idempotency-key') || `${Date.now()}-${bodyId(body)}` };
  },
};

function refused(why: string): Proof {
  return { ok: false, why };
}

function bodyId(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}

/** Compares hashes, so that neither content nor length shows in the time it takes. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left!, right!);
}
