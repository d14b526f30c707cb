/** Which bid gets a task: the same whoever weighs it, fair over many tasks, and never somebody below their own threshold. */
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
const from = (name: string, given: Bid | undefined, more: Partial<Offered> & { threshold?: number } = {}): Offered => ({
  agent: { name, ...(more.threshold === undefined ? {} : { threshold: more.threshold }) },
  bid: given,
  record: more.record ?? NO_RECORD,
});

test('the best score at or above its own threshold gets it', () => {
  const table: [string, Offered[], string | undefined][] = [
    ['the fittest', [from('a', bid(6)), from('b', bid(9))], 'b'],
    ['exactly the threshold is enough', [from('a', bid(6))], 'a'],
    ['nobody below 6 without a threshold', [from('a', bid(5))], undefined],
    ['a high threshold keeps a high score away', [from('planner', bid(7), { threshold: 8 }), from('a', bid(6))], 'a'],
    ['who steps back does not get it', [from('a', bid(10, { proceed: false })), from('b', bid(6))], 'b'],
    ['who cannot does not get it', [from('a', bid(10, { able: false })), from('b', bid(6))], 'b'],
    ['no bid is no bid', [from('a', undefined), from('b', bid(6))], 'b'],
    ['nobody at all', [from('a', undefined), from('b', bid(9, { proceed: false }))], undefined],
    [
      'a bad record outweighs big words',
      [from('a', bid(10), { record: { recent: 'ffffffff', tasks: [] } }), from('b', bid(7))],
      'b',
    ],
    [
      'a good record takes nothing away',
      [from('a', bid(8), { record: { recent: 'aaaa', tasks: [] } }), from('b', bid(7))],
      'a',
    ],
    [
      'rejected counts as failed does',
      [from('a', bid(9), { record: { recent: 'rrrr', tasks: [] } }), from('b', bid(6))],
      'b',
    ],
  ];
  for (const [what, offered, winner] of table) assert.equal(award({ id: 't' }, offered).agent, winner, what);
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
  { selector: (one) => one.agent.name, maxLength: 12 },
);

test('the order of the bids changes nothing, and asked again it says the same', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9]{1,12}$/),
      anyOffered,
      fc.infiniteStream(fc.nat()),
      (id, offered, random) => {
        const first = award({ id }, offered);
        const shuffled = offered
          .map((one) => ({ one, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one);
        assert.deepEqual(award({ id }, shuffled), first);
      },
    ),
  );
});

test('whoever gets it wanted it, could do it, and reached its threshold; if nobody did, nobody gets it', () => {
  fc.assert(
    fc.property(anyOffered, (offered) => {
      const { agent, scores } = award({ id: 't' }, offered);
      assert.equal(scores.length, offered.length, 'everybody is listed');
      const won = scores.find((one) => one.agent === agent);
      const could = scores.filter((one) => (one.score ?? -1) >= one.threshold);
      if (won === undefined) assert.deepEqual(could, []);
      else assert.ok(could.every((one) => one.score! <= won.score!) && could.includes(won));
    }),
  );
});

test('equal scores are shared out over many tasks', () => {
  const won = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const { agent } = award(
      { id: `task-${i}` },
      ['ana', 'ben', 'cyd'].map((name) => from(name, bid(8))),
    );
    won.set(agent!, (won.get(agent!) ?? 0) + 1);
  }
  for (const [name, times] of won) assert.ok(times > 800 && times < 1200, `${name} won ${times} of 3000`);
});

test('people can read all of it, and a reason cannot break the table or forge a row', () => {
  const weighed = award({ id: 't' }, [
    from('ana', bid(9, { reason: 'mine |\n| eve | awarded | 10 |' })),
    from('ben', undefined),
  ]);
  const page = bidsPage({ id: 't', description: 'Find it' }, weighed);
  assert.match(page, /^# Bids for t: Find it\n\nIt went to \*\*ana\*\*\./);
  assert.equal(page.match(/^\| (ana|ben|eve) \|/gm)?.length, 2);
  assert.match(noneFit(award({ id: 't' }, [from('ana', bid(3))]).scores).message, /ana: below 3 .*needs 6/);
});
