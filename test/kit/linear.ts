/**
 * For readers of text that strangers send: an input so large that a quadratic reader needs many minutes, and a linear one
 * less than a second or two. The limit lies far from both, so that a busy machine is never mistaken for a slow reader.
 */
import assert from 'node:assert/strict';

const LIMIT_MS = 60_000;

export function inLinearTime<T>(what: string, read: () => T): T {
  const from = performance.now();
  const result = read();
  assert.ok(performance.now() - from < LIMIT_MS, `${what} takes more than linear time`);
  return result;
}
