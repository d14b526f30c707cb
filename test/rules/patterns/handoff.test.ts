/** Handoff: after the work the next agent answers; it gets that answer and the original request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, cast, play } from '../../kit/rule-play.js';

const chain = (...names: string[]) =>
  cast(...names.map((name, i) => agent(name, names[i + 1] ? { handoff: names[i + 1] } : {})));

test('the next agent gets the answer and the original request, and its answer is the result', () => {
  const { asked, root } = play(chain('ana', 'ben'), (task) => `${task.to} was here`);
  assert.deepEqual(
    asked.map((task) => [task.id, task.role]),
    [
      ['top.work', 'work'],
      ['top.handoff-ben', 'handoff'],
    ],
  );
  assert.match(asked[1]!.description, /agent="ana">\nana was here\n[^]*original_user_request[^]*\nthe request\n/);
  assert.equal(root.task.result, 'ben was here');
});

test('a chain of five ends with the last, and each stage knows the one before', () => {
  const { asked, root } = play(chain('a', 'b', 'c', 'd', 'e'), (task) => `from ${task.to}`);
  assert.deepEqual(
    asked.map((task) => task.to),
    ['a', 'b', 'c', 'd', 'e'],
  );
  asked.slice(1).forEach((task, i) => assert.match(task.description, new RegExp(`from ${'abcd'[i]}`)));
  assert.equal(root.task.result, 'from e');
});

test('the agent may hand over the bare request', () => {
  const agents = cast(agent('ana', { handoff: 'ben', context: 'none' }));
  assert.equal(play(agents, () => 'x').asked[1]!.description, 'the request');
});

test('a failed stage fails the chain at once and is named', () => {
  const { root, world } = play(chain('a', 'b', 'c', 'd'), (task) => (task.to === 'b' ? { error: 'no' } : 'yes'));
  assert.equal(root.state, 'failed');
  assert.match(root.task.error!.message, /handoff \(b\) failed: work \(b\) failed: no/);
  assert.ok(![...world.values()].some(({ task }) => task.to === 'c'));
});

test('a first stage that fails is named too', () => {
  const { root } = play(chain('a', 'b'), () => ({ error: 'no' }));
  assert.equal(root.task.error!.message, 'work (a) failed: no');
});

test("after a router, the chosen agent's answer is handed on", () => {
  const desk = agent('desk', { router: { destinations: ['billing'] }, handoff: 'scribe' });
  const { asked } = play(cast(desk), (task) => (task.role === 'work' ? { route: 'billing' } : `${task.to} says`));
  assert.match(asked.at(-1)!.description, /agent="billing">\nbilling says/);
});

test('an empty answer is handed on unchanged', () => {
  assert.equal(play(chain('a', 'b'), () => '').root.task.result, '');
});
