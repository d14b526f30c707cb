/** The contract of every `Views` port. */
import assert from 'node:assert/strict';
import type { Check } from './bench.js';

export function viewsContract(check: Check): void {
  check('a view is written and replaced without creating tasks', async (bench) => {
    const store = bench.join();
    store.views.write('agents/registry.json', '{}');
    store.views.write('agents/registry.json', '{"agents":[]}');
    await store.tasks.scan(true);
    assert.equal(store.tasks.openCount(), 0);
  });
}
