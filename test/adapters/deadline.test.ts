/** Time limits abort, even after a garbage collection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deadline } from '../../src/ports/clock.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Only the listener remains, as in a call that waits for an answer. */
function waiting(ms: number, outer?: AbortSignal): Promise<unknown> {
  const { signal } = deadline(ms, outer);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve((signal.reason as Error).name)));
}

test('a deadline aborts after its time although memory was collected', async () => {
  const alive = setInterval(() => undefined, 1000);
  const aborted = waiting(50);
  for (let n = 0; n < 5; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  assert.equal(await aborted, 'TimeoutError');
  clearInterval(alive);
});

test('a deadline aborts with the outer signal, and not after its end', async () => {
  const stop = new AbortController();
  const aborted = waiting(1e12, stop.signal);
  const ended = deadline(1e12, stop.signal);
  ended.end();
  stop.abort();
  assert.equal(await aborted, 'AbortError');
  assert.equal(ended.signal.aborted, false);
  assert.equal(deadline(1e12, stop.signal).signal.aborted, true);
});
