/** The contract of every `Tasks` port. */
import assert from 'node:assert/strict';
import type { EndedOptions } from '../../../src/ports/store/tasks.js';
import { task, type Check } from './bench.js';

export function tasksContract(check: Check): void {
  check('a task is created once, whatever its state', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    assert.equal(await first.tasks.create(task('t')), true);
    assert.equal(await first.tasks.create(task('t')), false);
    assert.equal(await second.tasks.create(task('t')), false);
    const claim = (await first.tasks.claim('t', 'ana'))!;
    assert.equal(await second.tasks.create(task('t')), false, 'while active');
    await first.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(await second.tasks.create(task('t')), false, 'when ended');
  });

  check('a created task reads back unchanged', async (bench) => {
    const store = bench.join();
    const written = task('t', {
      requirements: ['x'],
      context: { original_goal: 'g', list: [1, { a: null }] },
      extra: { mine: true },
    });
    await store.tasks.create(written);
    assert.deepEqual((await store.tasks.read('t'))!.task, written);
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
    const [first, second] = [bench.join(), bench.join()];
    for (const id of ['a', 'b']) await first.tasks.create(task(id));
    await first.tasks.create(task('a.bid', { role: 'bid', parent: 'a', root: 'a' }));
    await second.tasks.scan();
    assert.ok(await first.tasks.claim('a', 'ana'));
    assert.ok(await first.tasks.claim('a.bid', 'ana'));
    assert.ok(await second.tasks.claim('b', 'ana'));
    for (const store of [first, second]) {
      const holds = (await store.tasks.claimsFor('ana')).sort((x, y) => (x.task < y.task ? -1 : 1));
      assert.deepEqual(
        holds.map(({ task: id, peer }) => [id, peer]),
        [
          ['a', first.presence.peer.id],
          ['b', second.presence.peer.id],
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
    const [first, second] = [bench.join(), bench.join()];
    await first.tasks.create(task('t'));
    await second.tasks.scan();
    assert.equal(second.tasks.isOpen('t'), true);
    const claim = (await first.tasks.claim('t', 'ana'))!;
    await second.tasks.scan();
    assert.deepEqual(
      [...second.tasks.open()].map(({ state, held }) => [state, held]),
      [['active', true]],
    );
    await first.tasks.settle(claim, { ...claim.task, result: 'r' }, 'completed');
    await second.tasks.scan();
    assert.equal(second.tasks.isOpen('t'), false);
    assert.equal((await second.tasks.read('t'))!.task.result, 'r');
  });

  check('parked and released tasks can be claimed again by any peer, with the saved record', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    await first.tasks.create(task('t'));
    const claim = (await first.tasks.claim('t', 'ana'))!;
    assert.equal(await first.tasks.park(claim, { ...claim.task, waits: { tasks: ['x'] } }), true);
    await second.tasks.scan();
    assert.deepEqual(
      [...second.tasks.open()].map(({ state }) => state),
      ['waiting'],
    );
    const resumed = (await second.tasks.claim('t', 'ana'))!;
    assert.deepEqual(resumed.task.waits, { tasks: ['x'] });
    assert.equal(resumed.from, 'waiting');
    assert.equal(await second.tasks.release(resumed, { ...resumed.task, attempts: 3 }), true);
    await first.tasks.scan();
    assert.equal((await first.tasks.claim('t', 'ana'))!.task.attempts, 3);
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
    const [first, second, third] = [bench.join(), bench.join(), bench.join()];
    await first.tasks.create(task('t'));
    await first.tasks.claim('t', 'ana');
    await second.tasks.scan();
    assert.deepEqual(await second.tasks.orphans(), []);
    assert.equal(await second.tasks.takeOver('t'), undefined);
    await bench.kill(first);
    await second.tasks.scan(true);
    await third.tasks.scan(true);
    assert.deepEqual(await second.tasks.orphans(), ['t']);
    const takers = [await second.tasks.takeOver('t'), await third.tasks.takeOver('t')].filter(Boolean);
    assert.equal(takers.length, 1);
    assert.equal(takers[0]!.recovered, true);
  });

  check('a peer that closes leaves its claims to the others', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    await first.tasks.create(task('t'));
    await first.tasks.claim('t', 'ana');
    await first.close();
    await second.tasks.scan(true);
    assert.deepEqual(await second.tasks.orphans(), ['t']);
  });

  check('ended tasks are listed by their tree', async (bench) => {
    const store = bench.join();
    const tree = [
      task('r'),
      { ...task('r.a'), parent: 'r', root: 'r' },
      { ...task('by-hand'), parent: 'r', root: 'r' },
    ];
    for (const each of [...tree, task('r2')]) {
      await store.tasks.create(each);
      const claim = (await store.tasks.claim(each.id, 'ana'))!;
      await store.tasks.settle(claim, { ...claim.task, result: '"root":"r"' }, 'completed');
    }
    const idsOf = async (options: EndedOptions): Promise<string[]> =>
      (await store.tasks.ended(options)).map(({ task: { id } }) => id).sort();
    assert.deepEqual(await idsOf({ root: 'r' }), ['by-hand', 'r', 'r.a']);
    assert.deepEqual(await idsOf({ root: 'r', state: 'failed' }), []);
    assert.equal((await idsOf({ root: 'r', limit: 2 })).length, 2);
    assert.deepEqual(await idsOf({ root: 'r2' }), ['r2']);
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
