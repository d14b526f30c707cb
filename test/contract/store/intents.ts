/** What every `Intents` port promises. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function intentsContract(check: Check): void {
  check('intents stay in order until they are done', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    await one.intents.submit({ kind: 'cancel', id: 'a1', task: 't', by: 'human', at: '2026-01-01T00:00:00.001Z' });
    await one.intents.submit({ kind: 'retry', id: 'a2', task: 't', by: 'human', at: '2026-01-01T00:00:00.002Z' });
    assert.deepEqual(
      (await two.intents.list()).map(({ id }) => id),
      ['a1', 'a2'],
    );
    await two.intents.done('a1');
    assert.deepEqual(
      (await one.intents.list()).map(({ id }) => id),
      ['a2'],
    );
  });
}
