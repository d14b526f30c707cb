/**
 * A stamp identifies the state of a file without reading it: inode, size, and the times of the last
 * write and of the last change of any kind, as `inode.bytes.written.changed`, the times in
 * nanoseconds. Only this file takes a stamp apart.
 */

export function stampText(inode: bigint, bytes: bigint, written: bigint, changed: bigint): string {
  return `${inode}.${bytes}.${written}.${changed}`;
}

export function inodeOf(stamp: string): string {
  return stamp.slice(0, stamp.indexOf('.'));
}

export function sizeOf(stamp: string): number {
  return Number(stamp.split('.')[1]);
}

/** In nanoseconds since 1970. */
export function writtenAt(stamp: string): bigint {
  return BigInt(stamp.split('.')[2]!);
}

/** In nanoseconds since 1970; a rename counts as a change. */
export function changedAt(stamp: string): bigint {
  return BigInt(stamp.split('.')[3]!);
}

/** Ignores the time of the last change, because a rename updates it. */
export function sameContent(a: string, b: string): boolean {
  return a.slice(0, a.lastIndexOf('.')) === b.slice(0, b.lastIndexOf('.'));
}

/** Whether the file grew by exactly this many bytes. */
export function grewBy(before: string, after: string, bytes: number): boolean {
  return inodeOf(before) === inodeOf(after) && sizeOf(before) + bytes === sizeOf(after);
}

/**
 * Temporary files are renamed at once, unless their process dies. One this old belongs to a dead
 * process.
 */
const TEMP_FILE_MAX_AGE_MS = 10 * 60_000;

export function isAbandoned(stamp: string, nowMs: number): boolean {
  return nowMs - Number(writtenAt(stamp) / 1_000_000n) > TEMP_FILE_MAX_AGE_MS;
}
