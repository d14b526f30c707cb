/** Team: members deliberate in rounds and get only new notes; then the coordinator answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roleFacts } from '../../../src/domain/task/role.js';
import type { Task } from '../../../src/domain/task/task.js';
import { contribution } from '../../../src/rules/patterns/team.js';
import { agent, cast, play, team, type AnswerOf } from '../../kit/rule-play.js';

const roundOf = (task: Task): number => Number(/-(\d+)$/.exec(task.id)?.[1]);
const chair = (...given: Parameters<typeof team>) => cast(agent('chair', { team: team(...given) }));
const ids = (asked: Task[]): string[] => asked.map((task) => task.id.replace('top.', ''));

test('in a round all members speak in parallel, each in its own conversation', () => {
  const { asked } = play(chair(['ann', 'ben'], 'maxRounds', 2), (task) => `${task.to} ${roundOf(task)}`);
  assert.deepEqual(ids(asked), ['member-ann-1', 'member-ben-1', 'member-ann-2', 'member-ben-2', 'work']);
  assert.deepEqual([...new Set(asked.map((task) => task.session))], ['top.member-ann', 'top.member-ben', undefined]);
  assert.ok(asked.slice(0, 4).every((task) => task.role === 'speaker'));
});

test("a member gets the others' notes of the previous round once, and not its own", () => {
  const { asked } = play(chair(['ann', 'ben', 'cyd'], 'maxRounds', 3), (task) => `${task.to} in ${roundOf(task)}`);
  const heard = asked.find((task) => task.id === 'top.member-ann-3')!.description;
  assert.match(heard, /ben in 2[^]*cyd in 2/);
  assert.doesNotMatch(heard, /ann in|in 1/);
});

test('the coordinator works on the whole discussion and the request', () => {
  const { asked, root } = play(chair(['ann', 'ben'], 'maxRounds', 2), (task) =>
    task.role === 'work' ? 'decided' : `${task.to} in ${roundOf(task)}`,
  );
  assert.match(asked.at(-1)!.description, /the request[^]*ann in 1[^]*ben in 1[^]*ann in 2[^]*ben in 2/);
  assert.equal(root.task.result, 'decided');
});

test('consensus: it ends in the round in which all vote', () => {
  const { asked } = play(chair(['ann', 'ben'], 'consensus', 5), (task) =>
    task.role === 'work' ? 'ok' : { broadcasts: ['hm'], votes: task.to === 'ann' || roundOf(task) === 2 },
  );
  assert.equal(asked.length, 5);
  assert.match(asked.at(-1)!.description, /all voted to conclude in round 2/);
});

test('consensus: votes do not carry over between rounds', () => {
  const { asked } = play(chair(['ann', 'ben'], 'consensus', 3), (task) =>
    task.role === 'work' ? 'ok' : { votes: (task.to === 'ann') === (roundOf(task) % 2 === 1) },
  );
  assert.match(asked.at(-1)!.description, /all 3 rounds are over/);
});

test('maxRounds: votes do not end the rounds', () => {
  const { asked } = play(chair(['ann', 'ben'], 'maxRounds', 3), (task) =>
    task.role === 'work' ? 'ok' : { votes: true, reason: 'enough' },
  );
  assert.equal(asked.filter((task) => task.role === 'speaker').length, 6);
  assert.match(asked.at(-1)!.description, /votes to conclude: enough/);
});

test('coordinatorDecides: the coordinator reads each round, and its broadcasts reach all members', () => {
  const { asked } = play(chair(['ann', 'ben'], 'coordinatorDecides', 5), (task) => {
    if (task.role === 'work') return 'ok';
    if (task.role === 'coordinator') return { broadcasts: ['look at the price'], votes: roundOf(task) === 2 };
    return `${task.to} in ${roundOf(task)}`;
  });
  assert.deepEqual(ids(asked), [
    'member-ann-1',
    'member-ben-1',
    'coordinator-1',
    'member-ann-2',
    'member-ben-2',
    'coordinator-2',
    'work',
  ]);
  assert.match(asked[2]!.description, /the request[^]*ann in 1[^]*ben in 1/);
  assert.match(asked[3]!.description, /look at the price/);
  assert.doesNotMatch(asked[5]!.description, /in 1/);
  assert.match(asked.at(-1)!.description, /the coordinator concluded in round 2/);
});

test('coordinatorDecides: the coordinator is not asked after the last round, and votes are ignored', () => {
  const { asked } = play(chair(['ann', 'ben'], 'coordinatorDecides', 2), (task) =>
    task.role === 'work' ? 'ok' : { votes: task.role === 'member' },
  );
  assert.deepEqual(
    ids(asked).filter((id) => id.startsWith('coordinator')),
    ['coordinator-1'],
  );
});

test("coordinatorDecides: a coordinator's failure in a round is announced, and the rounds continue", () => {
  const { asked, root } = play(chair(['ann', 'ben'], 'coordinatorDecides', 2), (task) =>
    task.role === 'coordinator' ? { error: 'away' } : 'hm',
  );
  assert.match(asked.find((task) => task.id === 'top.member-ann-2')!.description, /chair could not decide .*away/);
  assert.equal(root.state, 'completed');
});

test('a failing member is announced and leaves; the others need not wait for its vote', () => {
  const { asked } = play(chair(['ann', 'ben', 'cyd'], 'consensus', 4), (task) => {
    if (task.to === 'cyd') return { error: 'out of budget' };
    return task.role === 'work' ? 'ok' : { broadcasts: [`${task.to} speaks`], votes: roundOf(task) === 2 };
  });
  assert.deepEqual(ids(asked), [
    'member-ann-1',
    'member-ben-1',
    'member-cyd-1',
    'member-ann-2',
    'member-ben-2',
    'work',
  ]);
  assert.match(asked[3]!.description, /cyd failed and is no longer in the team: out of budget/);
  assert.match(asked.at(-1)!.description, /all voted to conclude in round 2/);
});

test('a member may fail in a later round too', () => {
  const { asked } = play(chair(['ann', 'ben'], 'maxRounds', 3), (task) =>
    task.to === 'ben' && roundOf(task) === 2 ? { error: 'tired' } : `${task.to} in ${roundOf(task)}`,
  );
  assert.deepEqual(
    ids(asked).filter((id) => id.includes('ben')),
    ['member-ben-1', 'member-ben-2'],
  );
  assert.match(asked.find((task) => task.id === 'top.member-ann-3')!.description, /only member left[^]*tired/);
});

for (const mode of ['consensus', 'maxRounds', 'coordinatorDecides'] as const) {
  test(`${mode}: when all members fail, the coordinator answers alone and knows it`, () => {
    const { asked, root } = play(chair(['ann', 'ben'], mode, 4), (task) =>
      roleFacts(task.role).isMember ? { error: 'down' } : 'my own view',
    );
    assert.deepEqual(ids(asked), ['member-ann-1', 'member-ben-1', 'work']);
    assert.match(asked.at(-1)!.description, /no member is left[^]*ann failed[^]*ben failed/);
    assert.equal(root.task.result, 'my own view');
  });
}

test('a silent member does not delay the team', () => {
  const { asked, root } = play(chair(['ann', 'mute'], 'maxRounds', 2), (task) =>
    task.to === 'mute' ? {} : task.role === 'work' ? 'ok' : 'hm',
  );
  assert.match(asked.find((task) => task.id === 'top.member-ann-2')!.description, /Nobody said anything/);
  assert.equal(root.task.result, 'ok');
});

test('a coordinator whose own work fails fails the team', () => {
  const { root } = play(chair(['ann'], 'maxRounds', 1), (task) => (task.role === 'work' ? { error: 'no' } : 'hm'));
  assert.match(root.task.error!.message, /work \(chair\) failed: no/);
});

test('a result that is not a contribution counts as a broadcast', () => {
  for (const said of ['[]', '{"votes": true}', 'null', '7', 'plain words']) {
    const { asked } = play(chair(['ann'], 'maxRounds', 1), (task) => (task.role === 'work' ? 'ok' : said));
    assert.ok(asked.at(-1)!.description.includes(`agent="ann">\n${said}\n`), said);
  }
});

test('twenty members reach consensus', () => {
  const names = Array.from({ length: 20 }, (_, i) => `m${i + 1}`);
  const answer: AnswerOf = (task) =>
    task.role === 'work' ? 'ok' : { broadcasts: [`I am ${task.to}`], votes: roundOf(task) === 2 };
  const { asked, world } = play(chair(names, 'consensus', 10), answer, { crashes: false });
  assert.equal(asked.length, 41);
  assert.equal(world.size, 42);
  const heard = asked.find((task) => task.id === 'top.member-m7-2')!.description;
  assert.equal(heard.match(/I am m\d+/g)?.length, 19);
});

test('members with chains: the last agent of the chain takes the seat, broadcasts, votes and remembers', () => {
  const agents = cast(
    agent('chair', { team: team(['ann', 'ben'], 'consensus', 4) }),
    agent('ann', { handoff: 'editor' }),
    agent('editor', { handoff: 'lawyer' }),
    agent('ben', { advisors: [{ agent: 'expert', required: false }] }),
  );
  const { asked, root } = play(agents, (task) => {
    if (task.role === 'member' || task.role === 'seat')
      return { broadcasts: [`${task.to} speaks`], votes: /member-\w+-2/.test(task.id) };
    return `${task.to} drafts`;
  });
  assert.equal(root.task.result, 'chair drafts');
  assert.match(asked.at(-1)!.description, /all voted to conclude in round 2/);
  assert.match(asked.at(-1)!.description, /lawyer speaks/, 'the words are those of the last in the chain');
  const seats = asked.filter((task) => task.role === 'member' || task.role === 'seat');
  assert.deepEqual(seats.map((task) => [task.to, task.role, task.session]).sort(), [
    ['ben', 'seat', 'top.member-ben'],
    ['ben', 'seat', 'top.member-ben'],
    ['lawyer', 'member', 'top.member-ann.handoff-editor.handoff-lawyer'],
    ['lawyer', 'member', 'top.member-ann.handoff-editor.handoff-lawyer'],
  ]);
});

test('a member that is a router: the chosen agent takes the seat', () => {
  const agents = cast(
    agent('chair', { team: team(['desk'], 'consensus', 4) }),
    agent('desk', { router: { destinations: ['ann', 'ben'] } }),
  );
  const { asked } = play(agents, (task) => {
    if (task.to === 'desk') return { route: 'ben' };
    return task.role === 'member' ? { broadcasts: ['ben speaks'], votes: true } : 'ok';
  });
  assert.match(asked.at(-1)!.description, /ben speaks[^]*votes to conclude/);
});

test("a member that leads its own team takes its seat with that team's result", () => {
  const agents = cast(
    agent('chair', { team: team(['lead', 'ann'], 'consensus', 3) }),
    agent('lead', { team: team(['x', 'y'], 'maxRounds', 1) }),
  );
  const { asked, root } = play(agents, (task) => {
    if (task.role === 'seat') return { broadcasts: ['we think so'], votes: true };
    if (task.to === 'ann') return { votes: true };
    return `${task.to} says`;
  });
  assert.equal(root.task.result, 'chair says');
  assert.match(asked.find((task) => task.role === 'seat')!.description, /x says[^]*y says/);
  assert.match(asked.at(-1)!.description, /we think so/);
});

test("a member's contribution is derived from its conversation", () => {
  const call = (name: string, args: Record<string, unknown>) => ({ id: 'c', name, arguments: args });
  const said = (...calls: ReturnType<typeof call>[]) => [{ role: 'assistant' as const, content: '', toolCalls: calls }];
  const read = (text: string): unknown => JSON.parse(text);
  assert.deepEqual(read(contribution([], 'my view')), { broadcasts: ['my view'], votes: false });
  assert.deepEqual(read(contribution([], '  ')), { broadcasts: [], votes: false });
  assert.deepEqual(read(contribution(said(call('broadcast', { message: 'a' })), 'done')), {
    broadcasts: ['a'],
    votes: false,
  });
  assert.deepEqual(
    read(contribution(said(call('broadcast', { message: 'a' }), call('vote_conclude', { reason: 'b' })), 'done')),
    { broadcasts: ['a'], votes: true, reason: 'b' },
  );
});
