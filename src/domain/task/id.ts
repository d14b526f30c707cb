/**
 * Ids are file names: letters, digits, `_ - .`, no leading dot or dash, at most 100 bytes. The id
 * of a child is derived from its parent's, so that every pass wants the same child and none is
 * created twice.
 */
const MAX_ID_BYTES = 100;

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

export function isSafeId(text: string): boolean {
  return text.length <= MAX_ID_BYTES && SAFE.test(text);
}

/**
 * `parent.part`; if that is too long, its end is replaced by a hash, so it is still deterministic.
 */
export function childId(parent: string, part: string): string {
  return shortId(`${parent}.${safePart(part)}`, `${parent}.${part}`);
}

/** Replaces the end of an id that is too long by a hash of `source`. */
export function shortId(id: string, source = id): string {
  return id.length <= MAX_ID_BYTES ? id : `${id.slice(0, MAX_ID_BYTES - 14)}.${hash53(source)}`;
}

/** `weekly-report-20261123T0800Z` */
export function runId(schedule: string, at: string): string {
  return shortId(`${schedule}-${at.slice(0, 16).replaceAll(/[-:]/g, '')}Z`);
}

/** The resource that a run holds until it ends, so that no two runs of a schedule overlap. */
export function scheduleLock(schedule: string): string {
  return shortId(`schedule-${schedule}`);
}

/** Whether the end of an id may have been replaced, so that it does not show all its ancestors. */
export function mayBeCut(id: string): boolean {
  return id.length >= MAX_ID_BYTES - 2;
}

/** Turns any text into a part of an id. A hash keeps texts apart that would become equal. */
export function safePart(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return safe === text && text.length > 0 && text.length <= 60
    ? text
    : `${safe.slice(0, 40)}-${hash53(text)}`.replace(/^-/, 'x-');
}

/** A 53-bit hash in 11 characters, for names and fingerprints. Not cryptographic. */
export function hash53(text: string): string {
  return print53(text).toString(36).padStart(11, '0');
}

/** The hash as a number. */
export function print53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
