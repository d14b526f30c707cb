/** Who is fit to provide: the points, who is no candidate, and ties that fall out the same for everybody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dependency } from '../../../src/domain/coordination/dependency.js';
import { rank, weigh, type Standing } from '../../../src/rules/coordination/provider-fitness.js';

const wants = (more: Partial<Dependency>): Dependency => ({
  type: 'expertise',
  need: 'something',
  urgency: 'normal',
  ...more,
});
const stands = (name: string, expertise: string[], more: Partial<Standing> = {}, most = Infinity): Standing => {
  return { agent: { name, expertise, capabilities: [], maxConcurrentTasks: most }, reliability: 1, busy: 0, ...more };
};

const POINTS: [string, Dependency, Standing, number | undefined][] = [
  ['one match, all well, all free', wants({ expertise: ['sql'] }), stands('a', ['sql']), 60],
  ['three matches', wants({ expertise: ['sql', 'css', 'go'] }), stands('a', ['go', 'sql', 'css']), 80],
  [
    'at most 50 for matches',
    wants({ expertise: ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'] }),
    stands('a', ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1']),
    100,
  ],
  ['half of its work failed', wants({ expertise: ['sql'] }), stands('a', ['sql'], { reliability: 0.5 }), 45],
  ['half of its room is taken', wants({ expertise: ['sql'] }), stands('a', ['sql'], { busy: 2 }, 4), 50],
  ['no room left', wants({ expertise: ['sql'] }), stands('a', ['sql'], { busy: 9 }, 4), 40],
  ['the same word twice counts once', wants({ expertise: ['sql', 'SQL'] }), stands('a', ['sql', 'Sql']), 60],
  ['other spelling of the same words', wants({ expertise: ['code reviews'] }), stands('a', ['code-review']), 60],
  ['nothing of what is asked for', wants({ expertise: ['sql'] }), stands('a', ['css']), undefined],
  ['data of a kind', wants({ type: 'data', dataType: 'schema' }), stands('a', ['schema']), 60],
  ['no data of that kind', wants({ type: 'data', dataType: 'schema' }), stands('a', ['colours']), undefined],
  ['nothing named: what the need speaks of', wants({ need: 'how is the schema made?' }), stands('a', ['schema']), 60],
  ['nothing named, nothing spoken of', wants({ need: 'how are you?' }), stands('a', ['schema']), 50],
];

for (const [what, dependency, standing, points] of POINTS)
  test(`${what}: ${points ?? 'no candidate'}`, () => assert.equal(weigh(dependency, standing)?.fitness, points));

test('a capability counts as an expertise does', () => {
  const able: Standing = { ...stands('a', []), agent: { ...stands('a', []).agent, capabilities: ['sql'] } };
  assert.equal(weigh(wants({ expertise: ['sql'] }), able)?.matches, 1);
});

test('the best comes first, and a tie falls out the same in whatever order they are given', () => {
  const all = ['ann', 'ben', 'cyd', 'dan'].map((name) => stands(name, ['sql']));
  const best = stands('eve', ['sql', 'css']);
  const dependency = wants({ expertise: ['sql', 'css'] });
  const names = (standings: Standing[], id: string): string[] =>
    rank(id, dependency, standings).map(({ agent }) => agent);
  assert.equal(names([...all, best], 't')[0], 'eve');
  assert.deepEqual(names([...all].reverse(), 't'), names(all, 't'));
  const firsts = new Set(Array.from({ length: 40 }, (_, n) => names(all, `t${n}`)[0]));
  assert.ok(firsts.size > 1, 'equals take turns from one request to the next');
});
