/**
 * Who may enter: a token in the address, valid once and for a minute, is exchanged for a cookie
 * that ends with this process. Each cookie has its own CSRF token.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_MS = 60_000;
const COOKIES_MAX = 200;

export interface Entry {
  /** A new token for an address. */
  token(): string;
  /** The value of a new cookie. Undefined: the token is unknown, used or too old. */
  enter(token: string): string | undefined;
  /** The CSRF token of a cookie that this process gave out. */
  csrf(cookie: string | undefined): string | undefined;
}

export function entry(now: () => number = Date.now): Entry {
  const tokens = new Map<string, number>();
  const cookies = new Map<string, string>();
  return {
    token() {
      const token = randomBytes(16).toString('base64url');
      for (const [old, at] of tokens) if (now() - at > TOKEN_MS) tokens.delete(old);
      tokens.set(token, now());
      return token;
    },
    enter(token) {
      const known = [...tokens.keys()].find((each) => isSame(each, token));
      if (known === undefined) return undefined;
      const at = tokens.get(known)!;
      tokens.delete(known);
      if (now() - at > TOKEN_MS) return undefined;
      const cookie = randomBytes(24).toString('base64url');
      cookies.set(cookie, randomBytes(24).toString('base64url'));
      for (const oldest of [...cookies.keys()].slice(0, -COOKIES_MAX)) cookies.delete(oldest);
      return cookie;
    },
    csrf(cookie) {
      const known = [...cookies.keys()].find((each) => isSame(each, cookie ?? ''));
      return known === undefined ? undefined : cookies.get(known);
    },
  };
}

/** Compares in constant time, so that timing does not reveal a prefix. */
export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
