/** The scenes of a story that plays in the window. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sceneOf, STORIES } from '../../src/cli/commands/demo/stories.js';
import type { Event } from '../../src/domain/event.js';

const claimed = (agent: string, task: string, from: string): Event => ({
  at: '2026-03-02T08:00:00.000Z',
  name: 'task.claimed',
  agent,
  task,
  from,
});

test('a scene starts with a new task of its agent, not with one that goes on', () => {
  const scene = sceneOf(STORIES['office']!);
  assert.equal(scene.see(claimed('executor', 'check', 'pending')), true);
  assert.equal(scene.see(claimed('executor', 'check', 'waiting')), false);
  assert.equal(scene.see(claimed('executor', 'check', 'pending')), false, 'put back in between');
  assert.equal(scene.see(claimed('evaluator', 'reply', 'pending')), true);
  assert.match(scene.step().text, /evaluator writes the reply/);
  assert.equal(scene.see(claimed('executor', 'send', 'pending')), true);
  assert.match(scene.step().text, /how replies are sent/);
});
