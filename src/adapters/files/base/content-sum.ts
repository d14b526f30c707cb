/** Identifies the content of a file, to recognise it after a power cut. */
import { crc32 } from 'node:zlib';

export function contentSum(content: Buffer | string): string {
  return `${crc32(content).toString(16)}.${Buffer.byteLength(content)}`;
}
