/** The contract of every `Blobs` port. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function blobsContract(check: Check): void {
  check('a blob is stored under its hash', async (bench) => {
    const store = bench.join();
    const hash = await store.blobs.put('some bytes');
    assert.equal(await store.blobs.put('some bytes'), hash);
    assert.equal((await store.blobs.get(hash))!.toString(), 'some bytes');
    assert.equal(await store.blobs.get('0'.repeat(64)), undefined);
    assert.equal(await store.blobs.get('../../etc/passwd'), undefined);
  });
}
