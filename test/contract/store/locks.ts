/** What every `Locks` port promises. */
import assert from 'node:assert/strict';
import { task, type Check } from './bench.js';

export function locksContract(check: Check): void {
  check('a lock has one holder at a time, until that task has ended', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    for (const id of ['a', 'b']) await one.tasks.create(task(id));
    await two.tasks.scan();
    assert.equal(await one.locks.holder('resource-printer'), undefined);
    assert.equal(await one.locks.acquire('resource-printer', 'a', { durable: true }), true);
    assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), false);
    assert.equal(
      await two.locks.acquire('resource-printer', 'a', { durable: true }),
      true,
      'whoever asks for the same task',
    );
    assert.equal(await two.locks.acquire('resource-scanner', 'b', { durable: true }), true, 'another is free');
    assert.equal(await two.locks.holder('resource-printer'), 'a');
    const claim = (await one.tasks.claim('a', 'ana'))!;
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    await two.tasks.scan(true);
    assert.equal(await two.locks.holder('resource-printer'), undefined);
    assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), true);
    assert.equal(
      await one.locks.acquire('resource-printer', 'a', { durable: true }),
      false,
      'one that has ended does not get it back',
    );
  });

  check(
    'what is given back before its task ends is there for the next; nobody gives back what another has',
    async (bench) => {
      const [one, two] = [bench.join(), bench.join()];
      for (const id of ['a', 'b']) await one.tasks.create(task(id));
      await two.tasks.scan();
      assert.equal(await one.locks.acquire('resource-printer', 'a', { durable: true }), true);
      await two.locks.release('resource-printer', 'b');
      assert.equal(await two.locks.holder('resource-printer'), 'a');
      await one.locks.release('resource-printer', 'a');
      await one.locks.release('resource-printer', 'a');
      await one.locks.release('resource-nothing', 'a');
      assert.equal(await two.locks.holder('resource-printer'), undefined);
      assert.equal(await two.locks.acquire('resource-printer', 'b', { durable: true }), true);
      await one.locks.release('resource-printer', 'a');
      assert.equal(await one.locks.holder('resource-printer'), 'b');
    },
  );

  check('the holder of a lock is known until it has ended, as is how much of a root is open', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    for (const id of ['t', 'u']) await one.tasks.create(task(id));
    await one.tasks.create(task('t.1', { parent: 't', root: 't' }));
    await two.tasks.scan();
    assert.deepEqual(
      [one.tasks.openUnderRoot('t'), two.tasks.openUnderRoot('t'), two.tasks.openUnderRoot('none')],
      [2, 2, 0],
    );
    assert.equal(await two.locks.holder('talk'), undefined);
    assert.equal(await one.locks.acquire('talk', 't'), true);
    assert.equal(await two.locks.acquire('talk', 'u'), false);
    assert.deepEqual([await one.locks.holder('talk'), await two.locks.holder('talk')], ['t', 't']);
    const claim = (await one.tasks.claim('t', 'ana'))!;
    assert.equal(one.tasks.openUnderRoot('t'), 2, 'held is open');
    await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed');
    assert.equal(one.tasks.openUnderRoot('t'), 1);
    await two.tasks.scan();
    assert.equal(await two.locks.holder('talk'), undefined);
    assert.equal(await two.locks.acquire('talk', 'u'), true);
    assert.equal(await one.locks.holder('talk'), 'u');
  });
}
