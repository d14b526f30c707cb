/**
 * Signatures that a stand-in gives to its thoughts and checks when they come back. A sealed text
 * carries its claims, so that a restarted stand-in accepts it and can say what was changed.
 */
import { isMapping, parseMapping } from '../../../../domain/mapping.js';
import { createHash, createHmac } from 'node:crypto';
import { type Json } from './json.js';

/** Not a secret: a stand-in protects nothing, it only notices changes. */
const KEY = 'guildhall stand-in';

export function seal(claims: Json): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${body}.${mac(body)}`;
}

/** The claims, or undefined if the text was not sealed by a stand-in or was changed. */
export function unseal(text: string): Json | undefined {
  const [body = '', signature, ...rest] = text.split('.');
  if (rest.length > 0 || signature !== mac(body)) return undefined;
  return parseMapping(Buffer.from(body, 'base64url').toString('utf8'));
}

/** The same text for values that differ only in the order of their keys. */
export function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered(value)) ?? '')
    .digest('hex');
}

/** An identifier of letters and digits that follows from the seed alone. */
export function idOf(seed: string, length: number): string {
  const bytes = createHash('sha512').update(seed).digest();
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length }, (_, at) => letters[bytes[at % bytes.length]! % letters.length]).join('');
}

function mac(text: string): string {
  return createHmac('sha256', KEY).update(text).digest('base64url');
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, ordered(value[key])]),
  );
}
