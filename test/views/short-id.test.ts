/** A short id leads back to its task and to no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../kit/properties.js';
import { lastPart, meantIds, shortIds } from '../../src/views/short-id.js';

test('a short id is the shortest ending of whole parts that no other task has', () => {
  const all = ['a', 'a.work', 'a.call-1x', 'b', 'b.work', 'work-2', 'b.x.1', 'c.2'];
  assert.deepEqual(
    [...shortIds(['a.work', 'a.call-1x', 'b.x.1', 'c.2', 'a'], all).values()],
    ['a.work', 'call-1x', 'x.1', 'c.2', 'a'],
  );
  assert.deepEqual(meantIds('work', all), ['a.work', 'b.work']);
  assert.deepEqual(meantIds('.call-1x', all), ['a.call-1x']);
  assert.deepEqual(meantIds('ork', all), [], 'only whole parts match');
});

test('a full id means itself, even if others end with it', () => {
  assert.deepEqual(meantIds('work', ['a.work', 'work']), ['work']);
  assert.equal(shortIds(['a.work'], ['a.work', 'work']).get('a.work'), 'a.work');
});

test('every short id leads back to its task', () => {
  const id = fc.array(fc.constantFrom('a', 'b', 'work', '1', 'call-1'), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.uniqueArray(
        id.map((parts) => parts.join('.')),
        { minLength: 1, maxLength: 20 },
      ),
      (all) => {
        for (const [whole, short] of shortIds(all, all)) assert.deepEqual(meantIds(short, all), [whole]);
      },
    ),
  );
});

test('the end of a long id, with its mark, leads back to it', () => {
  const all = [
    'inbox-slack-messages-c05606783e1e2efbdad6',
    'inbox-slack-messages-0a1b2c3d4e5f6efbdad7',
    'a.call-12345',
  ];
  assert.deepEqual(all.map(lastPart), ['…2efbdad6', '…6efbdad7', 'call-12345']);
  for (const id of all) assert.deepEqual(meantIds(lastPart(id), all), [id]);
  assert.deepEqual(meantIds('2efbdad6', all), [], 'without the mark only whole parts match');
  assert.deepEqual(meantIds('…', all), []);
});
