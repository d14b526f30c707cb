/**
 * Answers of people on several machines. Each desk signs with its own key; its public key is in the
 * store, where only a desk may put it. A worker accepts an answer that one of these keys signed.
 */
import { attempt } from '../../domain/attempt.js';
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { signedText } from '../../domain/consent/signed.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Ledger } from '../../ports/ledger.js';

export const KEY = 'keys/';

/** `published`: the public keys in the store, as of the last look. */
export function sharedConsent(own: Consent, name: string, published: () => readonly string[]): Consent {
  const keys = new Map<string, KeyObject | undefined>();
  const keyOf = (pem: string): KeyObject | undefined => {
    if (!keys.has(pem)) keys.set(pem, parse(pem));
    return keys.get(pem);
  };
  return {
    ...own,
    // Requests of other machines come from the store, which is trusted.
    isSealed: () => true,
    isSigned(given, signature) {
      if (own.isSigned(given, signature)) return true;
      if (typeof signature !== 'string') return false;
      const text = Buffer.from(signedText(name, given));
      const bytes = Buffer.from(signature, 'base64');
      return published().some((pem) => {
        const key = keyOf(pem);
        return key !== undefined && verify(null, text, key, bytes);
      });
    },
  };
}

/** Trusts the keys that are in the store now. */
export async function consentNow(own: Consent, name: string, ledger: Ledger): Promise<Consent> {
  const pems = (await ledger.list(KEY, { live: true })).map(({ value }) => value);
  return sharedConsent(own, name, () => pems);
}

export async function publishKey(ledger: Ledger, id: string, pem: string): Promise<void> {
  const put = { key: KEY + createHash('sha256').update(pem).digest('hex').slice(0, 16), value: pem, live: true };
  await ledger.commit(id, { puts: [put], adds: [] });
}

function parse(pem: string): KeyObject | undefined {
  const key = attempt(() => createPublicKey(pem));
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined;
}
