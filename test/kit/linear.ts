/**
 * For readers of text that strangers send: an input so large that a quadratic reader needs many minutes, and a linear one
 * less than a second or two. The limit lies far from both, and counts the time of this process on a processor, not the time that
 * passes: a busy machine is never mistaken for a slow reader.
 */
import assert from 'node:assert/strict';

const LIMIT_MICROS = 60_000_000;

export function inLinearTime<T>(what: string, read: () => T): T {
  const from = process.cpuUsage();
  const result = read();
  const { user, system } = process.cpuUsage(from);
  assert.ok(user + system < LIMIT_MICROS, `${what} takes more than linear time`);
  return result;
}
