/**
 * Providers are scored by expertise, reliability and capacity, and every process breaks ties the
 * same way.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dependency } from '../../../src/domain/coordination/dependency.js';
import { rank } from '../../../src/rules/coordination/provider-fitness.js';

type ProviderFacts = Parameters<typeof rank>[2][number];

const wants = (more: Partial<Dependency>): Dependency => ({
  type: 'expertise',
  need: 'something',
  urgency: 'normal',
  ...more,
});
const facts = (
  name: string,
  expertise: string[],
  more: Partial<ProviderFacts> = {},
  most = Infinity,
): ProviderFacts => {
  return { agent: { name, expertise, capabilities: [], maxConcurrentTasks: most }, reliability: 1, busy: 0, ...more };
};

const POINTS: [string, Dependency, ProviderFacts, number | undefined][] = [
  ['one match, reliable, free', wants({ expertise: ['sql'] }), facts('a', ['sql']), 60],
  ['three matches', wants({ expertise: ['sql', 'css', 'go'] }), facts('a', ['go', 'sql', 'css']), 80],
  [
    'at most 50 for matches',
    wants({ expertise: ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'] }),
    facts('a', ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1']),
    100,
  ],
  ['half of its work failed', wants({ expertise: ['sql'] }), facts('a', ['sql'], { reliability: 0.5 }), 45],
  ['half of its capacity is taken', wants({ expertise: ['sql'] }), facts('a', ['sql'], { busy: 2 }, 4), 50],
  ['no capacity left', wants({ expertise: ['sql'] }), facts('a', ['sql'], { busy: 9 }, 4), 40],
  ['the same word twice counts once', wants({ expertise: ['sql', 'SQL'] }), facts('a', ['sql', 'Sql']), 60],
  ['another spelling of the same words', wants({ expertise: ['code reviews'] }), facts('a', ['code-review']), 60],
  ['none of the named expertise', wants({ expertise: ['sql'] }), facts('a', ['css']), undefined],
  ['the named kind of data', wants({ type: 'data', dataType: 'schema' }), facts('a', ['schema']), 60],
  ['no data of that kind', wants({ type: 'data', dataType: 'schema' }), facts('a', ['colours']), undefined],
  ['nothing named, but the need mentions it', wants({ need: 'how is the schema made?' }), facts('a', ['schema']), 60],
  ['nothing named and nothing mentioned', wants({ need: 'how are you?' }), facts('a', ['schema']), 50],
];

for (const [situation, dependency, provider, points] of POINTS)
  test(`${situation}: ${points ?? 'not a candidate'}`, () =>
    assert.equal(rank('t', dependency, [provider])[0]?.fitness, points));

test('a capability counts like an expertise', () => {
  const able: ProviderFacts = { ...facts('a', []), agent: { ...facts('a', []).agent, capabilities: ['sql'] } };
  assert.equal(rank('t', wants({ expertise: ['sql'] }), [able])[0]?.matches, 1);
});

test('the best comes first, and ties do not depend on the order of the agents', () => {
  const all = ['ann', 'ben', 'cyd', 'dan'].map((name) => facts(name, ['sql']));
  const best = facts('eve', ['sql', 'css']);
  const dependency = wants({ expertise: ['sql', 'css'] });
  const names = (agents: ProviderFacts[], id: string): string[] =>
    rank(id, dependency, agents).map(({ agent }) => agent);
  assert.equal(names([...all, best], 't')[0], 'eve');
  assert.deepEqual(names([...all].reverse(), 't'), names(all, 't'));
  const firsts = new Set(Array.from({ length: 40 }, (_, n) => names(all, `t${n}`)[0]));
  assert.ok(firsts.size > 1, 'ties fall differently from one request to the next');
});
