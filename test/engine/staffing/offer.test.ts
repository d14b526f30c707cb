/** Unaddressed tasks: bids, awards, their costs, and what happens when a process dies. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { cluster, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: Does things\n${front}\n---\nYou do things.\n`;
const bids = (name: string, fitness: number, more = ''): string =>
  `- {agent: ${name}, task: '*.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: ${fitness}, reason: r}}]${more}}`;

interface Story {
  agents: Record<string, string>;
  tasks: Record<string, unknown>;
  script: string;
}

function setUp(story: Story): { disk: SimDisk; house: Cluster } {
  const disk = simDisk();
  writeStory(disk, { name: '', files: {}, results: {}, calls: 0, ...story });
  return { disk, house: cluster(story.script) };
}

const FOUR = { ana: agent('capabilities: [find]'), ben: agent('capabilities: [find]'), cyd: agent('threshold: 8') };

async function end(proc: Proc, id: string): Promise<[string, string | undefined, string]> {
  const { state, task } = (await proc.ports.tasks.read(id))!;
  return [state, task.to, task.result ?? task.error?.message ?? ''];
}

const events = async (proc: Proc, name: string): Promise<Event[]> =>
  (await proc.ports.events.list()).filter((event) => event.name === name);
const asked = (house: Cluster): string[] =>
  house.calls.filter((call) => call.task.includes('.bid-')).map((call) => call.agent);

test('the best bid gets the task, all scores are published, and bids are accounted under their role', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 7)}\n${bids('ben', 9)}\n${bids('cyd', 7)}\n- {agent: ben, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 't'), ['completed', 'ben', 'found']);
  const [award] = await events(proc, 'task.awarded');
  assert.match(
    String(award!['why']),
    /^ben: awarded 9 \(fitness 9, no record yet; needs 6\).*ana: second 7.*cyd: below 7 .*needs 8/,
  );
  const page = disk.tree().get(`${ROOT}/tasks/bids/t.md`)!;
  assert.match(page, /Awarded to \*\*ben\*\*/);
  assert.match(page, /\| cyd \| below \| 7 \| no record yet \| 7 \| 8 \|/);
  const { task } = (await proc.ports.tasks.read('t'))!;
  assert.equal(task.usage!.turns, 4, 'three bids and the work');
  assert.equal(task.own_usage!.turns, 1);
  assert.equal(task.bids!.length, 3);
  const roles = (await events(proc, 'model.answered')).map((event) => event['role']);
  assert.deepEqual(roles.sort(), ['bid', 'bid', 'bid', 'root']);
});

test('bids are sealed: no bidder sees another bid, and place_bid is the only tool', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 7).replace('reason: r', 'reason: SECRET')}\n${bids('ben', 9)}\n${bids('cyd', 7)}\n- {agent: ben, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  for (const call of house.calls) assert.doesNotMatch(JSON.stringify([call.system, call.messages]), /SECRET/);
  for (const call of house.calls.filter(({ task }) => task.includes('.bid-')))
    assert.deepEqual(
      call.tools.map((tool) => tool.name),
      ['place_bid'],
    );
});

test('no bids are asked for if one agent fits, if there is a default agent, or for an equal task', async () => {
  const one = setUp({
    agents: { ...FOUR, dan: agent('capabilities: [fly]') },
    tasks: { t: { description: 'Fly', requirements: ['fly'] } },
    script: '- {agent: dan, say: flown}',
  });
  const first = one.house.start(one.disk);
  await untilQuiet(first);
  assert.deepEqual(await end(first, 't'), ['completed', 'dan', 'flown']);

  const two = setUp({ agents: FOUR, tasks: { t: { description: 'Find it' } }, script: '- {agent: cyd, say: done}' });
  const second = two.house.start(two.disk, { config: { defaultAgent: 'cyd' } });
  await untilQuiet(second);
  assert.deepEqual(await end(second, 't'), ['completed', 'cyd', 'done']);
  assert.equal(two.house.calls.length, 1);

  const again = setUp({
    agents: FOUR,
    tasks: { a: { description: 'Find it' } },
    script: `${bids('ana', 7)}\n${bids('ben', 9)}\n${bids('cyd', 7)}\n- {agent: ben, say: found}`,
  });
  const third = again.house.start(again.disk);
  await untilQuiet(third);
  again.disk.create(
    path.join(ROOT, 'tasks/pending/b.json'),
    '{"description": "find  IT", "context": {"original_goal": "Find it"}}',
  );
  await untilQuiet(third);
  assert.deepEqual(await end(third, 'b'), ['completed', 'ben', 'found']);
  assert.equal(asked(again.house).length, 3, 'the second task reuses the bids');
});

test('an agent that answers in words is asked once more and then has no bid', async () => {
  const { disk, house } = setUp({
    agents: { ana: FOUR.ana, ben: FOUR.ben },
    tasks: { t: { description: 'Find it' } },
    script: `
- {agent: ana, task: '*.bid-*', turn: 1, say: "YES, PROCEED, 10 of 10"}
- {agent: ana, task: '*.bid-*', turn: 2, call: [{place_bid: {proceed: true, able: true, fitness: 11, reason: r}}]}
${bids('ben', 6)}
- {agent: ben, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 't'), ['completed', 'ben', 'found']);
  assert.equal(asked(house).filter((name) => name === 'ana').length, 2);
  assert.match(disk.tree().get(`${ROOT}/tasks/bids/t.md`)!, /\| ana \| no bid \|/);
});

test('a task without a sufficient bid fails with all scores, and a retry asks only changed agents', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 3, ', times: 1')}\n${bids('ana', 9)}\n${bids('ben', 5)}\n- {agent: cyd, task: '*.bid-*', call: [{place_bid: {proceed: false, able: true, fitness: 9, reason: no}}]}\n- {agent: ana, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  const [state, to, why] = await end(proc, 't');
  assert.deepEqual([state, to], ['failed', undefined]);
  assert.match(why, /no bid reached its threshold: ben: below 5.*ana: below 3.*cyd: stepped back/);
  disk.save(path.join(ROOT, 'agents/ana.md'), agent('capabilities: [find, more]'));
  await proc.ports.intents.submit({ kind: 'retry', id: 'r', task: 't', by: 'human', at: '2026-01-01T00:00:00.000Z' });
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 't'), ['completed', 'ana', 'found']);
  assert.deepEqual(asked(house).sort(), ['ana', 'ana', 'ben', 'cyd']);
});

test('a record of failures outweighs a high self-rating', async () => {
  const { disk, house } = setUp({
    agents: { ana: FOUR.ana, ben: FOUR.ben },
    tasks: Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, { description: `Try ${id}`, to: 'ana' }])),
    script: `- {agent: ana, task: [a, b, c, d], fail: auth, message: no}\n${bids('ana', 10)}\n${bids('ben', 7)}\n- {agent: ben, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  disk.create(path.join(ROOT, 'tasks/pending/t.json'), '{"description": "Find it"}');
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 't'), ['completed', 'ben', 'found']);
  assert.match(
    String((await events(proc, 'task.awarded'))[0]!['why']),
    /ana: below 5 \(fitness 10, 0 accepted, 0 rejected, 4 failed; needs 6\)/,
  );
});

test('an agent at its limit is not asked, and the task waits for it if no other bid suffices', async () => {
  const { disk, house } = setUp({
    agents: { ana: agent('max_concurrent_tasks: 1'), ben: agent('priority: C') },
    tasks: { long: { description: 'Long work', to: 'ana', dependencies: ['never'] }, t: { description: 'Find it' } },
    script: `${bids('ana', 9)}\n${bids('ben', 2)}\n- {agent: ana, say: found}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.deepEqual(asked(house), ['ben']);
  assert.equal((await proc.ports.tasks.read('t'))!.state, 'pending');
  await proc.ports.intents.submit({
    kind: 'cancel',
    id: 'c',
    task: 'long',
    by: 'human',
    at: '2026-01-01T00:00:00.000Z',
  });
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 't'), ['completed', 'ana', 'found']);
  assert.deepEqual(asked(house), ['ben', 'ana']);
});

test('each process bids for the agents it hosts, and a dead process does not delay the award', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 7)}\n${bids('ben', 9)}\n${bids('cyd', 7)}\n- {agent: ana, say: found}`,
  });
  const one = house.start(disk, { agents: ['ana'] });
  const two = house.start(disk, { agents: ['ben'] });
  await one.ports.presence.join();
  await two.ports.presence.join();
  await untilQuiet(one);
  assert.deepEqual(asked(house), ['ana'], 'ben belongs to the other process, and no process hosts cyd');
  assert.equal((await one.ports.tasks.read('t'))!.state, 'waiting');
  two.die();
  await untilQuiet(one);
  assert.deepEqual(await end(one, 't'), ['completed', 'ana', 'found']);
  assert.deepEqual(asked(house), ['ana']);
  assert.deepEqual([...one.ports.tasks.open()], [], 'the missing bid is ended too');
});

for (const comes of ['alone', 'with others']) {
  test(`an agent asked ${comes} that leaves before its bid is in is asked again when it returns`, async () => {
    const { disk, house } = setUp({
      agents: { ana: FOUR.ana, ben: FOUR.ben },
      tasks: { t: { description: 'Find it' } },
      script: `${bids('ana', 2)}\n${bids('ben', 9)}\n- {agent: ben, say: found}`,
    });
    const one = house.start(disk, { agents: comes === 'alone' ? ['cyd'] : ['ana'] });
    await one.ports.presence.join();
    for (let deaths = 0; deaths < 2; deaths++) {
      const two = house.start(disk, { agents: ['ben'] });
      await two.ports.presence.join();
      await untilQuiet(one);
      assert.equal((await one.ports.tasks.read('t'))!.state, 'waiting');
      two.die();
      await untilQuiet(one);
      assert.equal((await one.ports.tasks.read('t'))!.state, 'pending', 'it waits for ben');
    }
    const three = house.start(disk, { agents: ['ben'] });
    await three.ports.presence.join();
    await untilQuiet(three);
    if (comes !== 'alone') await untilQuiet(one);
    await untilQuiet(three);
    assert.deepEqual(await end(three, 't'), ['completed', 'ben', 'found']);
    assert.deepEqual(asked(house), comes === 'alone' ? ['ben'] : ['ana', 'ben']);
    assert.deepEqual([...three.ports.tasks.open()], []);
  });
}

test('a bid that kills its process is given up after a limited number of attempts', async () => {
  const { disk, house } = setUp({
    agents: { ana: FOUR.ana, ben: FOUR.ben },
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 2)}\n${bids('ben', 9)}`,
  });
  const one = house.start(disk, { agents: ['ana'] });
  await one.ports.presence.join();
  await untilQuiet(one);
  let deaths = 0;
  while ((await one.ports.tasks.read('t'))!.state !== 'failed') {
    const two = house.start(disk, { agents: ['ben'] });
    await two.ports.presence.join();
    await untilQuiet(one);
    await two.ports.tasks.scan(true);
    for (const { task } of two.ports.tasks.open()) if (task.to === 'ben') await two.ports.tasks.claim(task.id, 'ben');
    two.die();
    await untilQuiet(one);
    assert.ok(++deaths <= one.ports.config.limits.attempts, `${deaths} deaths`);
  }
  assert.match((await end(one, 't'))[2], /ben: no bid: the process working on it died \d+ times/);
});

test('a live process that does not answer delays the award only until the bid deadline', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: { t: { description: 'Find it' } },
    script: `${bids('ana', 7)}\n${bids('ben', 9)}\n- {agent: ana, say: found}`,
  });
  const one = house.start(disk, { agents: ['ana'] });
  const two = house.start(disk, { agents: ['ben'] });
  await two.ports.presence.join();
  await untilQuiet(one);
  assert.equal((await one.ports.tasks.read('t'))!.state, 'waiting', 'the time is not up');
  await one.ports.clock.sleep(one.ports.config.coordination.bidMs);
  await untilQuiet(one);
  assert.deepEqual(await end(one, 't'), ['completed', 'ana', 'found']);
  assert.deepEqual(asked(house), ['ana']);
  assert.deepEqual([...one.ports.tasks.open()], [], 'the missing bid is ended too');
  await untilQuiet(two);
  assert.deepEqual(asked(house), ['ana'], 'no bid is made after the award');
});

test('the task file from the README works: no id, and requirements inside its context', async () => {
  const { disk, house } = setUp({
    agents: FOUR,
    tasks: {
      build_user_api: {
        description: 'Build a REST API for user management',
        type: 'software_development',
        context: {
          requirements: ['CRUD operations', 'authentication', 'validation'],
          tech_stack: ['Python', 'FastAPI', 'PostgreSQL'],
        },
      },
    },
    script: `${bids('ana', 7)}\n${bids('ben', 6)}\n${bids('cyd', 7)}\n- {agent: ana, when: CRUD operations, say: built}`,
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.deepEqual(await end(proc, 'build_user_api'), ['completed', 'ana', 'built']);
});

test('a workspace with only rejected offers calls no model and writes nothing', async () => {
  const { disk, house } = setUp({
    agents: { ana: agent('max_concurrent_tasks: 1'), ben: agent('priority: C') },
    tasks: { long: { description: 'Long work', to: 'ana', dependencies: ['never'] }, t: { description: 'Find it' } },
    script: bids('ben', 2),
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  const before = [house.calls.length, [...disk.tree()].join()];
  for (let i = 0; i < 5; i++) assert.equal((await proc.engine.pump()).moved, false);
  assert.deepEqual([house.calls.length, [...disk.tree()].join()], before);
});

test('an offer between the tasks of one agent neither ends the pass nor skips a task', async () => {
  const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
  const { disk, house } = setUp({
    agents: { ...FOUR, dan: agent('threshold: never') },
    tasks: {
      d1: { description: 'one', to: 'dan', created_at: at(1) },
      offered: { description: 'Find it', requirements: ['find'], created_at: at(2) },
      d2: { description: 'two', to: 'dan', created_at: at(3) },
      d3: { description: 'three', to: 'dan', created_at: at(4) },
    },
    script: `${bids('ana', 7)}\n${bids('ben', 9)}\n- {agent: [ben, dan], say: done}`,
  });
  const proc = house.start(disk);
  const first = await proc.engine.pass('all', () => undefined);
  assert.equal(first.advanced, 4);
  await Promise.all([...proc.engine.flights.values()].map(({ done }) => done));
  await untilQuiet(proc);
  for (const id of ['d1', 'd2', 'd3', 'offered']) assert.equal((await end(proc, id))[0], 'completed', id);
});
