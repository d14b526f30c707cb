/** The contract of every `Sessions` port. */
import assert from 'node:assert/strict';
import { AT, header, user, type Check } from './bench.js';

export function sessionsContract(check: Check): void {
  check('a conversation is created once and grows at its end', async (bench) => {
    const store = bench.join();
    assert.deepEqual(await store.sessions.open('s'), { kind: 'missing' });
    assert.equal((await store.sessions.create(header('s'), [user('hello')]))?.messages.length, 1);
    assert.equal(await store.sessions.create(header('s'), [user('other')]), undefined);
    assert.equal(
      await store.sessions.append('s', [{ role: 'assistant', content: 'two\nlines ', timestamp: AT }], {
        durable: true,
      }),
      'written',
    );
    const other = await bench.join().sessions.open('s');
    assert.ok(other.kind === 'open');
    assert.deepEqual(
      other.session.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'hello'],
        ['assistant', 'two\nlines '],
      ],
    );
  });

  check('the stamp of a conversation differs whenever the conversation changed', async (bench) => {
    const store = bench.join();
    assert.equal(await store.sessions.stamp('s'), undefined);
    await store.sessions.create(header('s'), [user('hello')]);
    const first = await store.sessions.stamp('s');
    assert.equal(await store.sessions.stamp('s'), first);
    assert.deepEqual(await store.sessions.list(), ['s']);
    await store.sessions.append('s', [user('more')], { durable: true });
    const second = await store.sessions.stamp('s');
    await bench.edit('s', (messages) => [...messages, user('and one more thing')]);
    assert.equal(new Set([first, second, await store.sessions.stamp('s'), undefined]).size, 4);
  });

  check("a person's edit is noticed before the next write, and never overwritten", async (bench) => {
    const store = bench.join();
    await store.sessions.create(header('s'), [user('hello')]);
    await bench.edit('s', (messages) => [...messages, user('and one more thing')]);
    assert.equal(await store.sessions.append('s', [user('from the engine')], { durable: true }), 'edited');
    const opened = await store.sessions.open('s');
    assert.ok(opened.kind === 'open');
    assert.deepEqual([opened.edited!.added, opened.edited!.changed, opened.edited!.removed], [1, 0, 0]);
    assert.equal(await store.sessions.append('s', [user('from the engine')], { durable: true }), 'written');
    const again = await store.sessions.open('s');
    assert.ok(again.kind === 'open');
    assert.deepEqual(
      again.session.messages.map(({ content }) => content),
      ['hello', 'and one more thing', 'from the engine'],
    );
    assert.equal(again.edited, undefined);
  });
}
