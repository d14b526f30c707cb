/** The contract of every `Presence` port. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function presenceContract(check: Check): void {
  check('a peer that joins several times at once is listed once, until it leaves', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    await second.presence.join();
    const before = second.presence.version();
    await Promise.all([first.presence.join(), first.presence.join(), first.presence.join()]);
    await second.tasks.scan();
    const ids = (await second.presence.peers()).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [first.presence.peer.id, second.presence.peer.id].sort());
    assert.notEqual(second.presence.version(), before);
    assert.ok(first.presence.rank().rank < first.presence.rank().of);
    await first.close();
    await second.tasks.scan();
    assert.deepEqual(
      (await second.presence.peers()).map(({ id }) => id),
      [second.presence.peer.id],
    );
    assert.equal(second.presence.version(), before);
  });
}
