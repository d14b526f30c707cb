/**
 * For parsers of untrusted text: an input so large that a quadratic parser needs many minutes and a
 * linear one a second or two. The limit is far from both and counts CPU time, so that a busy
 * machine does not look like a slow parser.
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
