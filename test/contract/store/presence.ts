/** What every `Presence` port promises. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function presenceContract(check: Check): void {
  check('a peer that joins several times at once is listed once, until it leaves', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    await two.presence.join();
    const before = two.presence.version();
    await Promise.all([one.presence.join(), one.presence.join(), one.presence.join()]);
    await two.tasks.scan();
    const ids = (await two.presence.peers()).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [one.presence.peer.id, two.presence.peer.id].sort());
    assert.notEqual(two.presence.version(), before);
    assert.ok(one.presence.rank().rank < one.presence.rank().of);
    await one.close();
    await two.tasks.scan();
    assert.deepEqual(
      (await two.presence.peers()).map(({ id }) => id),
      [two.presence.peer.id],
    );
    assert.equal(two.presence.version(), before);
  });
}
