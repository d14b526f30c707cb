/**
 * What a disk says of a file without reading it: its inode, size, and the times of its last write and last change of any kind, as
 * `inode.bytes.written.changed`, the times in nanoseconds. Nobody else takes one apart.
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

/** Also where the file got another name in between, which changes the last time of all. */
export function sameContent(a: string, b: string): boolean {
  return a.slice(0, a.lastIndexOf('.')) === b.slice(0, b.lastIndexOf('.'));
}

/** By so many bytes and by nothing else, as far as sizes tell. */
export function grewBy(before: string, after: string, bytes: number): boolean {
  return inodeOf(before) === inodeOf(after) && sizeOf(before) + bytes === sizeOf(after);
}
