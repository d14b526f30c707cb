/** The sha256 of a file, so that a write can be bound to the content it replaces. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { attempt } from '../../domain/attempt.js';
import type { BoundBase } from '../../domain/task/approval.js';
import type { PlaceKind } from './locate.js';
import { inFile, type WalkRoot } from './open.js';

const CHUNK_BYTES = 1024 * 1024;

/** Undefined if there is something that cannot be read. */
export function fingerprint(base: WalkRoot, parts: readonly string[], kind: PlaceKind): BoundBase | undefined {
  const path = parts.join('/');
  if (kind === 'missing') return { path, sha256: 'missing' };
  return attempt(() => inFile(base, parts, ({ fd }) => ({ path, sha256: hashOf(fd) })));
}

export function isStill(
  base: WalkRoot,
  { parts, kind }: { parts?: string[]; kind?: PlaceKind },
  expected: BoundBase,
): boolean {
  const now = fingerprint(base, parts ?? [], kind ?? 'missing');
  return now !== undefined && now.path === expected.path && now.sha256 === expected.sha256;
}

function hashOf(fd: number): string {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let read = fs.readSync(fd, chunk, 0, chunk.length, 0), at = 0; read > 0;) {
    hash.update(chunk.subarray(0, read));
    at += read;
    read = fs.readSync(fd, chunk, 0, chunk.length, at);
  }
  return hash.digest('hex');
}
