/**
 * The award is deterministic, fair over many tasks, and never goes to an agent below its own
 * threshold.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import type { Bid } from '../../../src/domain/task/bid.js';
import { award, bidsPage, noneFit, type Offered } from '../../../src/rules/staffing/award.js';
import { NO_RECORD } from '../../../src/rules/staffing/track-record.js';

const bid = (fitness: number, more: Partial<Bid> = {}): Bid => ({
  proceed: true,
  able: true,
  fitness,
  reason: 'because',
  ...more,
});
const from = (name: string, made: Bid | undefined, more: Partial<Offered> & { threshold?: number } = {}): Offered => ({
  agent: { name, ...(more.threshold === undefined ? {} : { threshold: more.threshold }) },
  bid: made,
  record: more.record ?? NO_RECORD,
});

test('the best score at or above its own threshold gets the task', () => {
  const table: [string, Offered[], string | undefined][] = [
    ['the fittest wins', [from('a', bid(6)), from('b', bid(9))], 'b'],
    ['a score equal to the threshold is enough', [from('a', bid(6))], 'a'],
    ['the default threshold is 6', [from('a', bid(5))], undefined],
    ['a high threshold excludes a high score', [from('planner', bid(7), { threshold: 8 }), from('a', bid(6))], 'a'],
    ['an agent that steps back is passed over', [from('a', bid(10, { proceed: false })), from('b', bid(6))], 'b'],
    ['an agent that is unable is passed over', [from('a', bid(10, { able: false })), from('b', bid(6))], 'b'],
    ['an agent without a bid is passed over', [from('a', undefined), from('b', bid(6))], 'b'],
    ['without a valid bid no agent wins', [from('a', undefined), from('b', bid(9, { proceed: false }))], undefined],
    [
      'a bad record outweighs a high fitness',
      [from('a', bid(10), { record: { recent: 'ffffffff', tasks: [] } }), from('b', bid(7))],
      'b',
    ],
    [
      'a good record does not lower the score',
      [from('a', bid(8), { record: { recent: 'aaaa', tasks: [] } }), from('b', bid(7))],
      'a',
    ],
    [
      'a rejected task counts like a failed one',
      [from('a', bid(9), { record: { recent: 'rrrr', tasks: [] } }), from('b', bid(6))],
      'b',
    ],
  ];
  for (const [promise, offered, winner] of table) assert.equal(award({ id: 't' }, offered).agent, winner, promise);
});

const anyBid = fc.option(
  fc.record({
    proceed: fc.boolean(),
    able: fc.boolean(),
    fitness: fc.integer({ min: 1, max: 10 }),
    reason: fc.string(),
  }),
  { nil: undefined },
);
const anyOffered = fc.uniqueArray(
  fc.record({
    agent: fc.record({ name: fc.stringMatching(/^[a-z]{1,6}$/), threshold: fc.integer({ min: 0, max: 10 }) }),
    bid: anyBid,
    record: fc.record({ recent: fc.stringMatching(/^[arf]{0,50}$/), tasks: fc.constant<string[]>([]) }),
  }),
  { selector: (offered) => offered.agent.name, maxLength: 12 },
);

test('the award does not depend on the order of the bids', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9]{1,12}$/),
      anyOffered,
      fc.infiniteStream(fc.nat()),
      (id, offered, random) => {
        const first = award({ id }, offered);
        const shuffled = offered
          .map((entry) => ({ entry, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry);
        assert.deepEqual(award({ id }, shuffled), first);
      },
    ),
  );
});

test('the winner has the best score that reaches its threshold; without one there is no winner', () => {
  fc.assert(
    fc.property(anyOffered, (offered) => {
      const { agent, scores } = award({ id: 't' }, offered);
      assert.equal(scores.length, offered.length, 'every bidder is listed');
      const winner = scores.find((score) => score.agent === agent);
      const eligible = scores.filter(({ score, threshold }) => (score ?? -1) >= threshold);
      if (winner === undefined) assert.deepEqual(eligible, []);
      else assert.ok(eligible.every(({ score }) => score! <= winner.score!) && eligible.includes(winner));
    }),
  );
});

test('agents with equal scores win about equally often', () => {
  const wins = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const { agent } = award(
      { id: `task-${i}` },
      ['ana', 'ben', 'cyd'].map((name) => from(name, bid(8))),
    );
    wins.set(agent!, (wins.get(agent!) ?? 0) + 1);
  }
  for (const [name, times] of wins) assert.ok(times > 800 && times < 1200, `${name} won ${times} of 3000`);
});

test('the page of bids lists every bidder, and a reason cannot break the table or forge a row', () => {
  const weighed = award({ id: 't' }, [
    from('ana', bid(9, { reason: 'mine |\n| eve | awarded | 10 |' })),
    from('ben', undefined),
  ]);
  const page = bidsPage({ id: 't', description: 'Find it' }, weighed);
  assert.match(page, /^# Bids for t: Find it\n\nAwarded to \*\*ana\*\*\./);
  assert.equal(page.match(/^\| (ana|ben|eve) \|/gm)?.length, 2);
  assert.match(noneFit(award({ id: 't' }, [from('ana', bid(3))]).scores).message, /ana: below 3 .*needs 6/);
});
