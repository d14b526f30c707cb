/** Parents and roots follow from history; a root with a dot in its name is not a child. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { kinIn, lineageFields } from '../../../src/domain/task/lineage.js';
import { childId } from '../../../src/domain/task/id.js';
import { makeChild, makeTask, type Task } from '../../../src/domain/task/task.js';

const AT = '2026-01-31T09:00:00.000Z';
const line = (task: Task): Event => ({ at: AT, name: 'task.claimed', task: task.id, ...lineageFields(task) });
const root = (id: string): Task => makeTask({ id, description: 'x', created_at: AT });
const under = (parent: Task, part: string): Task =>
  makeChild(parent, { id: childId(parent.id, part), role: 'call', description: 'x' }, AT);

test('a root that is named like a child of another task is a root', () => {
  const [release, notes] = [root('release'), root('release.notes')];
  const call = under(notes, 'call-1');
  const kin = kinIn([release, notes, call].map(line));
  assert.deepEqual(
    [release, notes, call].map(({ id }) => [kin.rootOf(id), kin.parentOf(id), kin.levelOf(id)]),
    [
      ['release', undefined, 0],
      ['release.notes', undefined, 0],
      ['release.notes', 'release.notes', 1],
    ],
  );
});

test('a shortened id still has its parent and its root', () => {
  let deep = root('a'.repeat(60));
  for (const part of ['call-first', 'call-second', 'call-third', 'call-fourth']) deep = under(deep, part);
  const kin = kinIn([line(deep)]);
  assert.ok(!deep.id.startsWith(`${deep.parent}.`));
  assert.equal(kin.parentOf(deep.id), deep.parent);
  assert.equal(kin.rootOf(deep.id), 'a'.repeat(60));
});

test('without lineage in the history, as in earlier versions, the id decides', () => {
  const kin = kinIn([{ at: AT, name: 'task.created', task: 'a.call-1.work', cause: 'a.call-1' }]);
  assert.deepEqual(
    [kin.rootOf('a.call-1.work'), kin.parentOf('a.call-1.work'), kin.levelOf('a.call-1.work'), kin.parentOf('a')],
    ['a', 'a.call-1', 2, undefined],
  );
});
