/**
 * Names that become file names. An id is one safe part: letters, digits, `_ - .`, no leading dot or dash, at most 100
 * bytes. The id of a child is derived from its parent's, so that whoever looks again wants the same child and
 * creating it twice is impossible.
 */
const MAX_ID_BYTES = 100;

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

export function isSafeId(text: string): boolean {
  return text.length <= MAX_ID_BYTES && SAFE.test(text);
}

/** `parent.part`; where that grows too long, its tail becomes a hash of the whole, still the same on every pass. */
export function childId(parent: string, part: string): string {
  return shortId(`${parent}.${safePart(part)}`, `${parent}.${part}`);
}

/** What grew too long, with a hash of all of it, or of what it stands for, in place of its tail. */
export function shortId(whole: string, of = whole): string {
  return whole.length <= MAX_ID_BYTES ? whole : `${whole.slice(0, MAX_ID_BYTES - 14)}.${hash53(of)}`;
}

/** Whether an id may have lost its tail, and with it the names of those above it. */
export function mayBeCut(id: string): boolean {
  return id.length >= MAX_ID_BYTES - 2;
}

/** Any text as one part of an id; two texts that only look alike after it still differ by their hash. */
export function safePart(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return safe === text && text.length > 0 && text.length <= 60
    ? text
    : `${safe.slice(0, 40)}-${hash53(text)}`.replace(/^-/, 'x-');
}

/** A 53-bit hash in 11 characters: for names and fingerprints, never for trust. */
export function hash53(text: string): string {
  return print53(text).toString(36).padStart(11, '0');
}

/** The same as a number. */
export function print53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
