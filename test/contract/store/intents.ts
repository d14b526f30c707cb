/** The contract of every `Intents` port. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function intentsContract(check: Check): void {
  check('intents stay in order until they are done', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    await first.intents.submit({ kind: 'cancel', id: 'a1', task: 't', by: 'human', at: '2026-01-01T00:00:00.001Z' });
    await first.intents.submit({ kind: 'retry', id: 'a2', task: 't', by: 'human', at: '2026-01-01T00:00:00.002Z' });
    assert.deepEqual(
      (await second.intents.list()).map(({ id }) => id),
      ['a1', 'a2'],
    );
    await second.intents.done('a1');
    assert.deepEqual(
      (await first.intents.list()).map(({ id }) => id),
      ['a2'],
    );
  });
}
