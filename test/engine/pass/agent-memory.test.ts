/** The memory of an agent is proportional to its open tasks, however much it has done. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  forgetEnded,
  learnEnds,
  newMemory,
  observe,
  openRoots,
  pastOf,
} from '../../../src/engine/pass/agent-memory.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { NOT_PUBLISHED } from '../../../src/rules/coordination/published-states.js';

const NOW = '2026-01-01T00:00:00.000Z';
const part = (root: string): Task => makeTask({ id: `${root}.advisor-ana`, root, description: 'x', created_at: NOW });

test('ended tasks and roots of an agent that never rests are forgotten', () => {
  const memory = newMemory(NOT_PUBLISHED);
  for (let i = 0; i < 5000; i++) {
    const isOpen = (id: string): boolean => id.startsWith(`r${i}`) || id === 'r0';
    const took = [`r${i}.advisor-ana`];
    observe(memory, [{ task: part(`r${i}`), state: 'active', held: true }], { took, ended: [] });
    forgetEnded(memory, isOpen, () => false);
    assert.ok(memory.roots.size <= 101, `${memory.roots.size} roots`);
    assert.ok(memory.tasks.size <= 20, `${memory.tasks.size} tasks`);
    assert.equal(memory.ended.size, 0);
  }
  assert.deepEqual(
    openRoots(memory, { isOpen: (id) => id === 'r0' || id === 'r4999' }),
    ['r0', 'r4999'],
    'open roots are kept, the oldest too',
  );
});

test('the end of its last task is learned when the agent rests, unless the task may be open', async () => {
  const memory = newMemory(NOT_PUBLISHED);
  observe(memory, [{ task: part('r'), state: 'active', held: true }], { took: [], ended: [] });
  const isNone = (): boolean => false;
  assert.equal(
    await learnEnds(
      memory,
      isNone,
      () => true,
      async () => 'gone',
    ),
    false,
  );
  assert.equal(await learnEnds(memory, isNone, isNone, async () => 'unknown'), false);
  const failed = { ...part('r'), error: { code: 'model_failed', message: 'no luck' } } as const;
  assert.equal(await learnEnds(memory, isNone, isNone, async () => failed), true);
  assert.deepEqual(
    { ...pastOf(memory), roots: [...memory.roots] },
    {
      worked: true,
      roots: ['r'],
      last: 'r.advisor-ana',
      failed: 'no luck',
    },
  );
  assert.equal(memory.tasks.size, 0);
});
