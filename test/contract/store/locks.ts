/** The contract of every `Locks` port. */
import assert from 'node:assert/strict';
import { task, type Check } from './bench.js';

export function locksContract(check: Check): void {
  check('a lock has one holder at a time, until that task has ended', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    for (const id of ['a', 'b']) await first.tasks.create(task(id));
    await second.tasks.scan();
    assert.equal(await first.locks.holder('resource-printer'), undefined);
    assert.equal(await first.locks.acquire('resource-printer', 'a', { durable: true }), true);
    assert.equal(await second.locks.acquire('resource-printer', 'b', { durable: true }), false);
    assert.equal(
      await second.locks.acquire('resource-printer', 'a', { durable: true }),
      true,
      'another peer may ask for the same task',
    );
    assert.equal(await second.locks.acquire('resource-scanner', 'b', { durable: true }), true, 'another is free');
    assert.equal(await second.locks.holder('resource-printer'), 'a');
    const claim = (await first.tasks.claim('a', 'ana'))!;
    await first.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    await second.tasks.scan(true);
    assert.equal(await second.locks.holder('resource-printer'), undefined);
    assert.equal(await second.locks.acquire('resource-printer', 'b', { durable: true }), true);
    assert.equal(
      await first.locks.acquire('resource-printer', 'a', { durable: true }),
      false,
      'one that has ended does not get it back',
    );
  });

  check('a lock released before its task ends is free; only its holder can release it', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    for (const id of ['a', 'b']) await first.tasks.create(task(id));
    await second.tasks.scan();
    assert.equal(await first.locks.acquire('resource-printer', 'a', { durable: true }), true);
    await second.locks.release('resource-printer', 'b');
    assert.equal(await second.locks.holder('resource-printer'), 'a');
    await first.locks.release('resource-printer', 'a');
    await first.locks.release('resource-printer', 'a');
    await first.locks.release('resource-nothing', 'a');
    assert.equal(await second.locks.holder('resource-printer'), undefined);
    assert.equal(await second.locks.acquire('resource-printer', 'b', { durable: true }), true);
    await first.locks.release('resource-printer', 'a');
    assert.equal(await first.locks.holder('resource-printer'), 'b');
  });

  check('the holder of a lock is known until it has ended, as is how much of a root is open', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    for (const id of ['t', 'u']) await first.tasks.create(task(id));
    await first.tasks.create(task('t.1', { parent: 't', root: 't' }));
    await second.tasks.scan();
    assert.deepEqual(
      [first.tasks.openUnderRoot('t'), second.tasks.openUnderRoot('t'), second.tasks.openUnderRoot('none')],
      [2, 2, 0],
    );
    assert.equal(await second.locks.holder('talk'), undefined);
    assert.equal(await first.locks.acquire('talk', 't'), true);
    assert.equal(await second.locks.acquire('talk', 'u'), false);
    assert.deepEqual([await first.locks.holder('talk'), await second.locks.holder('talk')], ['t', 't']);
    const claim = (await first.tasks.claim('t', 'ana'))!;
    assert.equal(first.tasks.openUnderRoot('t'), 2, 'held is open');
    await first.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(first.tasks.openUnderRoot('t'), 1);
    await second.tasks.scan();
    assert.equal(await second.locks.holder('talk'), undefined);
    assert.equal(await second.locks.acquire('talk', 'u'), true);
    assert.equal(await first.locks.holder('talk'), 'u');
  });
}
