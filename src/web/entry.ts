/**
 * Who may enter: a token in the address, valid once and for a minute, is exchanged for a cookie.
 * Tokens and cookies are signed with the key of the window, so a cookie survives a restart of the
 * server, and `guild ui --link` can make a token from another terminal.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_MS = 60_000;
const COOKIE_MS = 7 * 24 * 3_600_000;

export interface Entry {
  /** The value of a new cookie. Undefined: the token is unknown, used or too old. */
  enter(token: string): string | undefined;
  csrf(cookie: string | undefined): string | undefined;
}

export function newToken(key: Buffer, now: () => number = Date.now): string {
  return signed(key, 'token', now());
}

export function entry(key: Buffer, now: () => number = Date.now): Entry {
  // A token from before this start may already have been used, so no such token counts.
  const start = now();
  const used = new Map<string, number>();
  return {
    enter(token) {
      const at = timeOf(key, 'token', token);
      if (at === undefined || at < start || now() - at > TOKEN_MS || used.has(token)) return undefined;
      for (const [old, usedAt] of used) if (now() - usedAt > 2 * TOKEN_MS) used.delete(old);
      used.set(token, now());
      return signed(key, 'cookie', now());
    },
    csrf(cookie = '') {
      const at = timeOf(key, 'cookie', cookie);
      return at === undefined || now() - at > COOKIE_MS ? undefined : mac(key, `csrf ${cookie}`);
    },
  };
}

/** How long a browser keeps the cookie. */
export const COOKIE_SECONDS = COOKIE_MS / 1000;

/** `<time>.<random>.<signature>`, in letters that an address and a cookie may have. */
function signed(key: Buffer, kind: string, at: number): string {
  const body = `${at.toString(36)}.${randomBytes(16).toString('base64url')}`;
  return `${body}.${mac(key, `${kind} ${body}`)}`;
}

function timeOf(key: Buffer, kind: string, value: string): number | undefined {
  const [at = '', random = '', signature = '', ...more] = value.split('.');
  // Only the exact spelling is valid: a used token must not become valid again with a suffix.
  if (more.length > 0 || !isSame(signature, mac(key, `${kind} ${at}.${random}`))) return undefined;
  return Number.parseInt(at, 36);
}

function mac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares in constant time, so that timing does not reveal a prefix. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
