/** The contract of every `Events` port. */
import assert from 'node:assert/strict';
import { AT, type Check } from './bench.js';

export function eventsContract(check: Check): void {
  check('events keep their order and can be filtered by task', async (bench) => {
    const store = bench.join();
    store.events.append({ at: AT, name: 'task.created', task: 'a' });
    store.events.append({ at: AT, name: 'task.created', task: 'b' });
    store.events.append({ at: AT, name: 'task.claimed', task: 'a' });
    await store.flush();
    assert.deepEqual(
      (await store.events.list()).map(({ name, task: id }) => `${name} ${id}`),
      ['task.created a', 'task.created b', 'task.claimed a'],
    );
    assert.deepEqual(
      (await store.events.list({ task: 'a' })).map(({ name }) => name),
      ['task.created', 'task.claimed'],
    );
    assert.deepEqual(
      (await store.events.list({ limit: 1 })).map(({ name }) => name),
      ['task.claimed'],
    );
  });
}
