/** Router: one turn chooses, and the chosen agent gets the original request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, cast, play, type Said } from '../../kit/rule-play.js';

const desk = (fallback?: string, more = {}) =>
  agent('desk', { router: { destinations: ['billing', 'support'], ...(fallback ? { fallback } : {}) }, ...more });
const routing = (choice: Said) => (task: { role: string; to?: string }) =>
  task.role === 'work' ? choice : `${task.to} answers`;

test('the chosen agent gets the original request, and its answer is the result', () => {
  const { asked, root } = play(cast(desk()), routing({ route: 'billing' }));
  assert.deepEqual(
    asked.map((task) => [task.id, task.role, task.description]),
    [
      ['top.work', 'work', 'the request'],
      ['top.route-billing', 'route', 'the request'],
    ],
  );
  assert.equal(root.task.result, 'billing answers');
});

test("the router's message follows the request", () => {
  const { asked } = play(cast(desk()), routing({ route: 'billing', message: 'be kind' }));
  assert.match(asked[1]!.description, /original_user_request[^]*the request[^]*agent="desk">\nbe kind\n/);
});

const NO_CHOICE: [string, Said][] = [
  ['an answer in words', 'I would say billing'],
  ['a choice outside its destinations', { route: 'legal' }],
  ['JSON of another kind', '{"route_to": 7}'],
  ['a failure', { error: 'the model is down' }],
];
for (const [what, said] of NO_CHOICE) {
  test(`${what} goes to the fallback`, () => {
    const { root, world } = play(cast(desk('support')), routing(said));
    assert.equal(root.task.result, 'support answers');
    assert.ok(!world.has('top.route-billing'));
  });

  test(`${what} without a fallback is a failure that lists the choices`, () => {
    const { root } = play(cast(desk()), routing(said));
    assert.equal(root.state, 'failed');
    assert.match(root.task.error!.message, /the router desk chose no agent .*billing, support/);
    assert.match(root.task.error!.hint!, /fallback/);
  });
}

test('the fallback need not be one of the destinations', () => {
  assert.equal(play(cast(desk('anybody')), routing('no idea')).root.task.result, 'anybody answers');
});

test('when the chosen agent fails, the fallback is not asked: the failure names the stage', () => {
  const { root, world } = play(cast(desk('support')), (task) =>
    task.role === 'work' ? { route: 'billing' } : { error: 'closed today' },
  );
  assert.match(root.task.error!.message, /route \(billing\) failed: closed today/);
  assert.ok(!world.has('top.route-support'));
});
