/** The tokens sent in a round do not grow with the discussion. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundTokens } from '../../../src/rules/patterns/team-tokens.js';
import { agent, cast, play, team } from '../../kit/rule-play.js';

test('each round sends only new notes; the cost of sending everything, counted for comparison, grows', () => {
  const agents = cast(agent('chair', { team: team(['ann', 'ben', 'cyd'], 'maxRounds', 5) }));
  const { world } = play(agents, (task) => (task.role === 'speaker' ? 'words '.repeat(200) : 'ok'), { crashes: false });
  const rounds = roundTokens(world.get('top')!.task, [...world.values()]);
  assert.deepEqual(
    rounds.map(({ round }) => round),
    [1, 2, 3, 4, 5],
  );
  assert.equal(rounds[0]!.sent, rounds[0]!.whole, 'in the first round there is nothing else to send');
  for (const { sent, round } of rounds.slice(2)) assert.equal(sent, rounds[1]!.sent, `round ${round} sends no more`);
  for (let i = 1; i < 5; i++) assert.ok(rounds[i]!.whole > rounds[i - 1]!.whole + 1000);
  assert.ok(rounds[4]!.sent * 5 < rounds[4]!.whole);
});

test('a task without a team has no rounds, even with a seat task under it', () => {
  const agents = cast(agent('chair', { team: team(['ann'], 'maxRounds', 1) }), agent('ann', { handoff: 'ben' }));
  const { world } = play(agents, () => 'ok', { crashes: false });
  assert.deepEqual(roundTokens(world.get('top.member-ann-1')!.task, [...world.values()]), []);
  assert.equal(roundTokens(world.get('top')!.task, [...world.values()]).length, 1);
});
