/** What every `Tasks` port promises. */
import assert from 'node:assert/strict';
import { task, type Check } from './bench.js';

export function tasksContract(check: Check): void {
  check('a task is created once, whatever its state', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    assert.equal(await one.tasks.create(task('t')), true);
    assert.equal(await one.tasks.create(task('t')), false);
    assert.equal(await two.tasks.create(task('t')), false);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(await two.tasks.create(task('t')), false, 'while active');
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(await two.tasks.create(task('t')), false, 'when ended');
  });

  check('a created task reads back unchanged', async (bench) => {
    const store = bench.join();
    const given = task('t', {
      requirements: ['x'],
      context: { original_goal: 'g', list: [1, { a: null }] },
      extra: { mine: true },
    });
    await store.tasks.create(given);
    assert.deepEqual((await store.tasks.read('t'))!.task, given);
    assert.equal((await store.tasks.read('t'))!.state, 'pending');
    assert.equal(await store.tasks.read('nothing'), undefined);
  });

  check('a claim has one winner', async (bench) => {
    const stores = [bench.join(), bench.join(), bench.join()];
    await stores[0]!.tasks.create(task('t'));
    for (const store of stores) await store.tasks.scan();
    const claims = await Promise.all(stores.map((store) => store.tasks.claim('t', 'ana')));
    const won = claims.filter(Boolean);
    assert.equal(won.length, 1);
    for (const store of stores) assert.equal(await store.tasks.claim('t', 'ana'), undefined);
  });

  check('claims for an agent are visible to all peers, in order and without bids', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    for (const id of ['a', 'b']) await one.tasks.create(task(id));
    await one.tasks.create(task('a.bid', { role: 'bid', parent: 'a', root: 'a' }));
    await two.tasks.scan();
    assert.ok(await one.tasks.claim('a', 'ana'));
    assert.ok(await one.tasks.claim('a.bid', 'ana'));
    assert.ok(await two.tasks.claim('b', 'ana'));
    for (const store of [one, two]) {
      const holds = (await store.tasks.claimsFor('ana')).sort((x, y) => (x.task < y.task ? -1 : 1));
      assert.deepEqual(
        holds.map(({ task: id, peer }) => [id, peer]),
        [
          ['a', one.presence.peer.id],
          ['b', two.presence.peer.id],
        ],
      );
      assert.ok(holds[0]!.since <= holds[1]!.since);
      assert.deepEqual(await store.tasks.claimsFor('ben'), []);
    }
  });

  check('the version of the open tasks changes with them, and names what changed since', async (bench) => {
    const store = bench.join();
    await store.tasks.create(task('t'));
    await store.tasks.create(task('u'));
    const before = store.tasks.version();
    assert.deepEqual(store.tasks.changedSince(before), []);
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.notEqual(store.tasks.version(), before);
    await store.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.deepEqual([...new Set(store.tasks.changedSince(before))], ['t']);
  });

  check("a child is read under its parent's claim, whatever its state", async (bench) => {
    const store = bench.join();
    await store.tasks.create(task('t'));
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.equal(await store.tasks.readChild('t.1', claim), undefined);
    await store.tasks.create(task('t.1', { parent: 't', root: 't' }));
    assert.equal((await store.tasks.readChild('t.1', claim))?.state, 'pending');
    const child = (await store.tasks.claim('t.1', 'ana'))!;
    await store.tasks.settle(child, { ...child.task, result: 'done' }, 'completed');
    assert.equal((await store.tasks.readChild('t.1', claim))?.task.result, 'done');
  });

  check('a peer sees the changes of others after a scan', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    await one.tasks.create(task('t'));
    await two.tasks.scan();
    assert.equal(two.tasks.isOpen('t'), true);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    await two.tasks.scan();
    assert.deepEqual(
      [...two.tasks.open()].map(({ state, held }) => [state, held]),
      [['active', true]],
    );
    await one.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed');
    await two.tasks.scan();
    assert.equal(two.tasks.isOpen('t'), false);
    assert.equal((await two.tasks.read('t'))!.task.result, 'r');
  });

  check('parked and released tasks can be claimed again by any peer, with the saved record', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    await one.tasks.create(task('t'));
    const first = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(await one.tasks.park(first, { ...first.task, waits: { tasks: ['x'] } }), true);
    await two.tasks.scan();
    assert.deepEqual(
      [...two.tasks.open()].map(({ state }) => state),
      ['waiting'],
    );
    const second = (await two.tasks.claim('t', 'ana'))!;
    assert.deepEqual(second.task.waits, { tasks: ['x'] });
    assert.equal(second.from, 'waiting');
    assert.equal(await two.tasks.release(second, { ...second.task, attempts: 3 }), true);
    await one.tasks.scan();
    assert.equal((await one.tasks.claim('t', 'ana'))!.task.attempts, 3);
  });

  check('only the holder can settle, park or release, and only once', async (bench) => {
    const store = bench.join();
    await store.tasks.create(task('t'));
    const claim = (await store.tasks.claim('t', 'ana'))!;
    assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'first' }, 'completed'), true);
    assert.equal(await store.tasks.settle(claim, { ...claim.task, result: 'second' }, 'completed'), false);
    assert.equal(await store.tasks.settle(claim, { ...claim.task }, 'failed'), false);
    assert.equal(await store.tasks.park(claim, claim.task), false);
    assert.equal(await store.tasks.release(claim, claim.task), false);
    assert.equal((await store.tasks.read('t'))!.task.result, 'first');
    assert.equal((await store.tasks.read('t'))!.state, 'completed');
    assert.equal(store.tasks.openCount(), 0);
  });

  check('a live peer keeps its claim; a dead one leaves an orphan that one peer takes over', async (bench) => {
    const [one, two, three] = [bench.join(), bench.join(), bench.join()];
    await one.tasks.create(task('t'));
    await one.tasks.claim('t', 'ana');
    await two.tasks.scan();
    assert.deepEqual(await two.tasks.orphans(), []);
    assert.equal(await two.tasks.takeOver('t'), undefined);
    bench.kill(one);
    await two.tasks.scan(true);
    await three.tasks.scan(true);
    assert.deepEqual(await two.tasks.orphans(), ['t']);
    const takers = [await two.tasks.takeOver('t'), await three.tasks.takeOver('t')].filter(Boolean);
    assert.equal(takers.length, 1);
    assert.equal(takers[0]!.recovered, true);
  });

  check('a peer that closes leaves its claims to the others', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    await one.tasks.create(task('t'));
    await one.tasks.claim('t', 'ana');
    await one.close();
    await two.tasks.scan(true);
    assert.deepEqual(await two.tasks.orphans(), ['t']);
  });

  check('an ended task can be reopened', async (bench) => {
    const store = bench.join();
    await store.tasks.create(task('t'));
    assert.equal(await store.tasks.reopen('t', task('t')), false, 'not while open');
    const claim = (await store.tasks.claim('t', 'ana'))!;
    await store.tasks.settle(claim, { ...claim.task, error: { code: 'cancelled', message: 'no' } }, 'failed');
    assert.deepEqual(
      (await store.tasks.ended({ state: 'failed' })).map(({ task: { id } }) => id),
      ['t'],
    );
    assert.equal(await store.tasks.reopen('t', task('t')), true);
    assert.equal((await store.tasks.read('t'))!.state, 'pending');
    assert.equal((await store.tasks.read('t'))!.task.error, undefined);
    assert.ok(await store.tasks.claim('t', 'ana'));
  });
}
