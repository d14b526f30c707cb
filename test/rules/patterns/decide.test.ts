/**
 * The next step of a task with all patterns combined, in this order: limits, advisors, team, work,
 * goal check, route, handoff, resolve. Each play is repeated from every intermediate state, as
 * after a crash.
 */
import assert from 'node:assert/strict';
import { fc } from '../../kit/properties.js';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { hash53 } from '../../../src/domain/task/id.js';
import { makeChild, makeTask, type Task } from '../../../src/domain/task/task.js';
import { decide, isLeaf } from '../../../src/rules/patterns/decide.js';
import { advisors, agent, cast, play, team, type AnswerOf, type Said } from '../../kit/rule-play.js';

const task = (more: Partial<Task> = {}): Task =>
  makeTask({ id: 'top', description: 'x', created_at: '2026-01-01T00:00:00Z', ...more });

test('an agent without a pattern does its task itself', () => {
  assert.deepEqual(decide(task(), agent('ana'), new Map(), { depth: 5 }), { do: 'run' });
});

test('an agent does its own work task itself, whatever its patterns are', () => {
  const all = agent('ana', { advisors: advisors('x'), handoff: 'y', team: team(['z']) });
  for (const role of ['work', 'seat', 'coordinator', 'check']) assert.ok(isLeaf(task({ role }), all), role);
  for (const role of ['root', 'advisor', 'member', 'route', 'handoff', 'call']) assert.ok(!isLeaf(task({ role }), all));
});

test('a task over the depth limit fails before it asks anything', () => {
  const said = decide(task({ depth: 6 }), agent('ana', { handoff: 'b' }), new Map(), { depth: 5 });
  assert.equal(said.do, 'fail');
  assert.equal(said.do === 'fail' && said.error.code, 'over_limit');
});

const PATTERNS: Record<string, Partial<Agent>> = {
  advisors: { advisors: advisors('legal', 'risk') },
  team: { team: team(['ann', 'ben'], 'consensus', 3) },
  router: { router: { destinations: ['billing', 'support'], fallback: 'support' } },
  handoff: { handoff: 'scribe' },
  check: { metacognition: {} },
};

/** Every agent answers with its name and the names of those whose answers it has read. */
const heard = (description: string): string =>
  ['legal', 'risk', 'ann', 'ben', 'billing'].filter((name) => description.includes(`${name} speaks`)).join('+');
const speak: AnswerOf = ({ role, to, description, id }) => {
  if (role === 'work' && to === 'boss' && routes) return { route: 'billing', message: `heard ${heard(description)}` };
  if (role === 'check') return { advances: true, reason: 'it does' };
  if (role === 'member' || role === 'seat') return { broadcasts: [`${to} speaks`], votes: id.endsWith('-2') };
  return `${to} speaks, having heard ${heard(description)}`;
};
let routes = false;

/** For each set of patterns: who is asked, in order, and the result. */
const ORDER = ['advisors', 'team', 'work', 'check', 'router', 'handoff'];
const PARTS: Record<string, string[]> = {
  advisors: ['advisor-legal', 'advisor-risk'],
  team: ['member-ann-1', 'member-ben-1', 'member-ann-2', 'member-ben-2'],
  work: ['work'],
  check: ['check-1'],
  router: ['route-billing'],
  handoff: ['handoff-scribe'],
};
const SETS = subsets(Object.keys(PATTERNS)).filter((set) => set.length > 0);
assert.equal(SETS.length, 31);
/** A router's work is a choice, which is not checked. */
const isPart = (set: string[], part: string): boolean =>
  part === 'work' || (set.includes(part) && !(part === 'check' && set.includes('router')));

for (const set of SETS) {
  test(`${set.join(' + ')}: asked in the written order, and the last one answers`, () => {
    routes = set.includes('router');
    const boss = agent('boss', Object.assign({}, ...set.map((name) => PATTERNS[name])) as Partial<Agent>);
    const { asked, root } = play(cast(boss), speak);
    const expected = ORDER.filter((part) => isPart(set, part)).flatMap((part) => PARTS[part]!);
    assert.deepEqual(
      asked.map((one) => one.id.replace('top.', '')),
      expected,
    );
    const last = set.includes('handoff') ? 'scribe' : set.includes('router') ? 'billing' : 'boss';
    assert.match(root.task.result!, new RegExp(`^${last} speaks`));
    const work = asked.find((one) => one.role === 'work')!.description;
    assert.equal(work.includes('legal speaks'), set.includes('advisors'), 'the work knows the advice');
    assert.equal(work.includes('ann speaks'), set.includes('team'), 'the work knows the discussion');
    assert.ok(work.includes('the request'), 'and the request');
    const member = asked.find((one) => one.role === 'member')?.description;
    if (member) assert.equal(member.includes('legal speaks'), set.includes('advisors'), 'members know the advice');
  });

  test(`${set.join(' + ')}: it ends whichever task fails, and a failure names the stage`, () => {
    routes = set.includes('router');
    const boss = agent('boss', Object.assign({}, ...set.map((name) => PATTERNS[name])) as Partial<Agent>);
    const whole = play(cast(boss), speak, { crashes: false }).asked.map((one) => one.id);
    for (const victim of whole) {
      const { root } = play(cast(boss), (one): Said => (one.id === victim ? { error: 'struck' } : speak(one)), {
        crashes: set.length < 3,
      });
      const tolerated = /advisor-|member-/.test(victim) || (routes && victim === 'top.work');
      assert.equal(root.state, tolerated ? 'completed' : 'failed', victim);
      if (!tolerated)
        assert.match(
          root.task.error!.message,
          /(work|route|handoff) \(\w+\) failed: struck|the goal check of boss failed: struck/,
          victim,
        );
    }
  });
}

test('an advisor that is a router, a router that routes to a team, a member with a chain, all in one', () => {
  const agents = cast(
    agent('boss', { advisors: advisors('desk'), handoff: 'gate' }),
    agent('desk', { router: { destinations: ['panel', 'clerk'] } }),
    agent('panel', { team: team(['ann', 'ben'], 'consensus', 3) }),
    agent('ann', { handoff: 'editor' }),
    agent('gate', { router: { destinations: ['clerk'], fallback: 'clerk' } }),
  );
  const { root, world } = play(agents, ({ role, to, id }) => {
    if (to === 'desk') return { route: 'panel' };
    if (to === 'gate') return 'I cannot choose';
    if (role === 'member') return { broadcasts: [`${to} speaks`], votes: id.includes('-2') };
    return `${to} is done`;
  });
  assert.equal(root.task.result, 'clerk is done');
  assert.ok(world.has('top.advisor-desk.route-panel.member-ann-2.handoff-editor'));
});

test('pattern stages do not count toward depth: a chain of twelve fits the default limit', () => {
  const stage = (i: number): string => `stage${i}`;
  const chain = Array.from({ length: 12 }, (_, i) =>
    agent(stage(i), {
      ...(i < 11 ? { handoff: stage(i + 1) } : {}),
      ...(i === 6 ? { advisors: advisors('wise') } : {}),
    }),
  );
  const { root, world } = play(cast(...chain, agent('wise', { handoff: 'wiser' })), ({ to }) => `${to} is done`, {
    depth: 0,
  });
  assert.equal(root.task.result, 'stage11 is done');
  assert.ok([...world.values()].every((placed) => placed.task.depth === 0));
  assert.equal(new Set(world.keys()).size, world.size);
});

test('tasks that agents create themselves count toward depth, inside a pattern too', () => {
  const parent = task({ depth: 4, role: 'work' });
  const child = (role: string) => makeChild(parent, { id: 'x', role, description: '' }, parent.created_at);
  for (const role of ['call', 'task', 'subtask', 'help', 'dependency']) assert.equal(child(role).depth, 5, role);
  for (const role of ['work', 'check', 'advisor', 'member', 'seat', 'coordinator', 'route', 'handoff'])
    assert.equal(child(role).depth, 4, role);
});

test('a stage over the depth limit fails, and the patterns above it decide what follows', () => {
  const deep = (role: string) =>
    decide(task({ depth: 6, role }), agent('ana', { handoff: 'b' }), new Map(), { depth: 5 });
  for (const role of ['call', 'advisor', 'handoff', 'work']) assert.equal(deep(role).do, 'fail', role);
});

test('random agents with random answers end, and end the same from every intermediate state', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const pattern = fc.record({
    advise: fc.boolean(),
    gather: fc.constantFrom(undefined, 'consensus' as const, 'maxRounds' as const, 'coordinatorDecides' as const),
    route: fc.boolean(),
    hand: fc.boolean(),
    check: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 3, maxLength: 3 }), fc.nat(), (given, seed) => {
      // Agents name only agents later in the alphabet, so there are no cycles.
      const agents = cast(
        ...given.map(({ advise, gather, route, hand, check }, i) =>
          agent(names[i]!, {
            ...(advise ? { advisors: advisors(names[i + 1]!) } : {}),
            ...(gather ? { team: team([names[i + 1]!, names[i + 2]!], gather, 2) } : {}),
            ...(route ? { router: { destinations: [names[i + 1]!, names[i + 2]!] } } : {}),
            ...(hand ? { handoff: names[i + 2]! } : {}),
            ...(check ? { metacognition: {} } : {}),
          }),
        ),
      );
      const answer: AnswerOf = ({ id, to, role }) => {
        const dice = parseInt(hash53(`${seed} ${id}`).slice(-2), 36) % 6;
        if (role === 'check' && dice < 5) return { advances: dice > 2, reason: 'hm' };
        if (dice === 0) return { error: 'struck' };
        if (dice < 4 && to! < 'd') return { route: names[names.indexOf(to!) + 1]! };
        return dice === 4 ? { broadcasts: ['hm'], votes: true } : 'words';
      };
      const { root, world } = play(agents, answer, { depth: 9, crashes: false });
      assert.ok(root.state === 'completed' || root.state === 'failed');
      if (world.size < 25) play(agents, answer, { depth: 9 });
    }),
    { numRuns: 100 },
  );
});

function subsets(names: string[]): string[][] {
  return names.reduce<string[][]>((found, name) => [...found, ...found.map((set) => [...set, name])], [[]]);
}
