/** In a mesh the fittest agent offers first, and every process awards the same offer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { bestOffer, isBetter, offerDelayMs, type Offer } from '../../../src/rules/coordination/mesh.js';

const offer = (agent: string, fitness: number, steppedBack = false): Offer => ({ agent, fitness, steppedBack });
const live = new Set(['ann', 'ben', 'cyd']);

test('the fitter an agent is, the sooner it offers itself', () => {
  assert.deepEqual(
    [0, 50, 80, 100, 120, -3].map((fitness) => offerDelayMs(fitness, 2000)),
    [2000, 1000, 400, 0, 0, 2000],
  );
});

const AWARDS: [string, Offer[], { tried?: string[]; isOver?: boolean }, string | undefined][] = [
  ['no offer yet', [], {}, undefined],
  ['no offer, and the window is over', [], { isOver: true }, undefined],
  ['a live candidate has not answered', [offer('ann', 60)], {}, undefined],
  ['the window is over', [offer('ann', 60)], { isOver: true }, 'ann'],
  ['all candidates have answered', [offer('ann', 60), offer('ben', 80), offer('cyd', 50, true)], {}, 'ben'],
  ['the best died', [offer('ann', 60), offer('zoe', 99)], { isOver: true }, 'ann'],
  ['the best has failed', [offer('ann', 60), offer('ben', 80), offer('cyd', 50, true)], { tried: ['ben'] }, 'ann'],
  [
    'only an agent that stepped back is left',
    [offer('ben', 80), offer('cyd', 50, true)],
    { tried: ['ben'], isOver: true },
    'cyd',
  ],
];

for (const [situation, offers, { tried = [], isOver = false }, winner] of AWARDS)
  test(`${situation}: ${winner ?? 'no winner yet'}`, () =>
    assert.equal(bestOffer({ id: 't', offers, live, tried, isOver }), winner));

test('the winner does not depend on the order of the offers', () => {
  const offers = fc.uniqueArray(
    fc.record({
      agent: fc.constantFrom('ann', 'ben', 'cyd'),
      fitness: fc.integer({ min: 0, max: 3 }),
      steppedBack: fc.boolean(),
    }),
    { selector: ({ agent }) => agent, minLength: 1 },
  );
  fc.assert(
    fc.property(offers, (all) => {
      const wins = (order: Offer[]): string | undefined =>
        bestOffer({ id: 't', offers: order, live, tried: [], isOver: true });
      assert.equal(wins([...all].reverse()), wins(all));
      const best = all.find(({ agent }) => agent === wins(all))!;
      assert.ok(all.every((other) => other === best || isBetter('t', best, other)));
    }),
  );
});
