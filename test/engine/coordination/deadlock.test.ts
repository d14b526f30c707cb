/**
 * Cycles of waiting tasks: they are found, broken by the rule of the mode and reported. A request
 * that would close one is refused.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_COORDINATION, type Coordination } from '../../../src/domain/config/config.js';
import type { Event } from '../../../src/domain/event.js';
import type { Task } from '../../../src/domain/task/task.js';
import { memoryBus } from '../../kit/memory/bus.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, STORIES, type Story } from '../../kit/stories.js';

const RING = STORIES.find(({ name }) => name.includes('ask each other in a cycle'))!;
const agent = (front: string): string => `---\n${front}\n---\nWork.\n`;

interface Played {
  disk: SimDisk;
  proc: Proc;
  events: Event[];
  ended(id: string): Task & { state: string };
}

async function play(
  story: Pick<Story, 'agents' | 'tasks' | 'script'>,
  coordination: Partial<Coordination> = {},
  bus = memoryBus({ clock: simClock({ auto: true }) }),
): Promise<Played> {
  const disk = simDisk();
  writeStory(disk, { name: 't', results: {}, calls: 0, ...story });
  const proc = cluster(story.script).start(disk, {
    config: { coordination: { ...DEFAULT_COORDINATION, ...coordination } },
    bus,
  });
  await untilQuiet(proc);
  const ended = (id: string): Task & { state: string } => {
    for (const state of ['completed', 'failed', 'pending', 'waiting']) {
      const text = disk.tree().get(`${ROOT}/tasks/${state}/${id}.json`);
      if (text !== undefined) return { ...(JSON.parse(text) as Task), state };
    }
    throw new Error(`task ${id} does not exist`);
  };
  return { disk, proc, events: await proc.ports.events.list(), ended };
}

test('hierarchical: in a cycle of three, the task with the lowest priority gives way and the others are helped', async () => {
  const tasks = {
    a: { description: 'Report', to: 'ann', priority: 'A' },
    b: { description: 'Review', to: 'ben', priority: 'D' },
    c: { description: 'Release', to: 'cyd', priority: 'B' },
  };
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  const { events, ended } = await play({ ...RING, tasks }, { mode: 'hierarchical', coordinator: 'ann' }, bus);
  assert.deepEqual(
    [ended('a'), ended('b'), ended('c')].map((task) => task.result),
    ['Done together.', 'Done alone.', 'Done together.'],
  );
  const [broken, ...more] = events.filter((event) => event.name === 'deadlock.broken');
  assert.deepEqual(more, []);
  assert.equal(broken!['victim'], 'b');
  assert.match(String(broken!['rule']), /lowest priority/);
  assert.equal((broken!['cycle'] as string[]).length, 9, 'three tasks, three requests, three conversations');
  const note = bus.read('dependency').find(({ body }) => body.type === 'deadlock')!;
  assert.equal(note.to, 'ann', 'the coordinator gets the note');
});

test('mesh: the wait that began first gives way', async () => {
  const { events } = await play(RING);
  const broken = events.filter((event) => event.name === 'deadlock.broken');
  assert.deepEqual(
    broken.map((event) => event['victim']),
    ['a'],
  );
});

test('two processes that find the same cycle choose the same victim and cancel it once', async () => {
  const disk = simDisk();
  writeStory(disk, RING);
  const house = cluster(RING.script);
  const [one, two] = [house.start(disk), house.start(disk)];
  for (let n = 0; n < 60; n++) {
    const moved = await Promise.all([one.engine.pump(), two.engine.pump()]);
    if (!moved.some((report) => report.moved)) break;
  }
  const events = await one.ports.events.list();
  assert.equal(events.filter((event) => event.name === 'deadlock.broken').length, 1);
  assert.equal(events.filter((event) => event.name === 'task.failed').length, 1);
  assert.equal(one.ports.tasks.openCount(), 0);
});

test('an agent with a shared conversation that asks itself through another agent is refused at once', async () => {
  const { ended, events } = await play({
    agents: {
      ann: agent('description: A\nsession: shared\ntools: [delegate_to_agent]\nagents: [ben]'),
      ben: agent('description: B\ntools: [delegate_to_agent]\nagents: [ann]'),
    },
    tasks: { t: { description: 'Go', to: 'ann' } },
    script: `
- {agent: ann, turn: 1, call: [{delegate_to_agent: {agent: ben, task: ask ann}}]}
- {agent: ben, turn: 1, call: [{delegate_to_agent: {agent: ann, task: tell me}}]}
- {agent: ben, turn: 2, when: could never end, say: I did it myself.}
- {agent: ann, turn: 2, when: I did it myself, say: Good.}
`,
  });
  assert.equal(ended('t').result, 'Good.');
  assert.deepEqual(
    events.filter((event) => event.name === 'task.created').map((event) => event.agent),
    ['ben'],
  );
});

test('a task that would wait for its own asker is not created', async () => {
  const { ended } = await play({
    agents: { ann: agent('description: A\ntools: [create_task]') },
    tasks: { t: { description: 'Go', to: 'ann' } },
    script: `
- {agent: ann, turn: 1, call: [{create_task: {agent: ann, description: after me, depends_on: [t]}}]}
- {agent: ann, turn: 2, when: '/deadlock: this could never end.*t → t.call-/', say: I see.}
`,
  });
  assert.equal(ended('t').result, 'I see.');
});

test('tasks that only depend on each other all fail and name the cycle', async () => {
  const { ended } = await play({
    agents: { ann: agent('description: A') },
    tasks: {
      x: { description: 'x', dependencies: ['y'] },
      y: { description: 'y', dependencies: ['z'] },
      z: { description: 'z', dependencies: ['x'] },
      me: { description: 'me', dependencies: ['me'] },
      after: { description: 'after', dependencies: ['x'] },
    },
    script: '- {agent: ann, say: ok}',
  });
  for (const id of ['x', 'y', 'z']) {
    assert.equal(ended(id).error?.code, 'cycle');
    assert.match(ended(id).error!.message, /(x → y → z → x|y → z → x → y|z → x → y → z)$/);
  }
  assert.match(ended('me').error!.message, /me → me$/);
  assert.equal(ended('after').error?.code, 'dependency_failed');
});

test('in a mixed cycle, a task that only depends on others fails and the rest continue', async () => {
  const { ended, events } = await play({
    agents: { ann: agent('description: A\nsession: shared'), ben: agent('description: B') },
    // main has answered and waits for its subtask, which waits for `late`, which waits for main
    tasks: {
      main: { description: 'Main', to: 'ann' },
      'main.more': { description: 'More', to: 'ben', parent: 'main', dependencies: ['late'] },
      late: { description: 'Late', to: 'ben', dependencies: ['main'] },
    },
    script: '- {agent: ann, say: Done.}\n- {agent: ben, say: Done too.}',
  });
  const broken = events.find((event) => event.name === 'deadlock.broken');
  assert.ok(broken, 'the cycle is broken');
  for (const id of ['main', 'main.more', 'late']) assert.match(ended(id).state, /completed|failed/);
  assert.match(JSON.stringify([ended('main.more').error, ended('late').error]), /each waited for the next/);
});

const CYCLE = {
  agents: {
    ann: agent('description: A'),
    ben: agent('description: B'),
    boss: agent('description: Leads\ntools: [create_task]'),
  },
  tasks: {
    x: { description: 'Paint the door', to: 'ann', dependencies: ['y'] },
    y: { description: 'Hang the door', to: 'ben', dependencies: ['x'] },
  },
  script: `
- {agent: boss, turn: 1, when: '/x → y → x|y → x → y/', call: [{create_task: {agent: ann, description: Paint the door where it lies}}]}
- {agent: boss, turn: 2, say: I wait for it.}
- {agent: boss, turn: 3, when: Painted, say: Ben can hang it now.}
- {agent: ann, say: Painted.}
`,
};

test('with a coordinator, each failed cycle of dependencies becomes one task for the coordinator, and a retry another', async () => {
  const { ended, events, proc } = await play(CYCLE, { mode: 'hierarchical', coordinator: 'boss' });
  assert.deepEqual([ended('x').error?.code, ended('y').error?.code], ['cycle', 'cycle']);
  const [broken, ...more] = events.filter((event) => event.name === 'deadlock.broken');
  assert.deepEqual(more, []);
  const handled = ended(String(broken!['handled']));
  assert.equal(handled.to, 'boss');
  assert.equal(handled.error, undefined);
  assert.equal(handled.result, 'Ben can hang it now.');
  assert.match(handled.description, /x \(@ann\), which depends on y: Paint the door/);
  // Unchanged tasks fail again when retried, and each time the coordinator gets a new task.
  for (const round of [2, 3]) {
    for (const id of ['x', 'y'])
      await proc.ports.intents.submit({
        kind: 'retry',
        id: `r-${id}-${round}`,
        task: id,
        by: 'human',
        at: handled.created_at,
      });
    await untilQuiet(proc);
    const made = (await proc.ports.events.list()).filter(
      (event) => event.name === 'task.created' && event.agent === 'boss',
    );
    assert.equal(new Set(made.map((event) => event.task)).size, round);
    assert.equal(made.length, round);
  }
});

test('a victim that only depends on others fails, and the coordinator gets a task about its work', async () => {
  const { ended, events } = await play(
    {
      agents: { ...CYCLE.agents, cyd: agent('description: C') },
      tasks: {
        main: { description: 'Main', to: 'ann' },
        'main.more': { description: 'More', to: 'ben', parent: 'main', dependencies: ['late'], priority: 'A' },
        late: { description: 'Late', to: 'cyd', dependencies: ['main'], priority: 'D' },
      },
      script: '- {agent: boss, say: It is not needed any more.}\n- {say: Done.}',
    },
    { mode: 'hierarchical', coordinator: 'boss' },
  );
  const broken = events.find((event) => event.name === 'deadlock.broken')!;
  assert.equal(broken['victim'], 'late');
  assert.equal(ended('late').error?.code, 'deadlock');
  assert.equal(ended(String(broken['handled'])).result, 'It is not needed any more.');
});

test('without a coordinator, or in a mesh, no task about the cycle is created', async () => {
  for (const coordination of [{ mode: 'hierarchical' }, { mode: 'mesh', coordinator: 'boss' }] as const) {
    const { events } = await play(CYCLE, coordination);
    assert.deepEqual(
      events.filter((event) => event.name === 'deadlock.broken').map((event) => event['handled']),
      [undefined],
    );
    assert.ok(!events.some((event) => event.name === 'task.created'));
  }
});

test('waiting tasks take no capacity: an unassigned task can go to agents whose own tasks depend on it', async () => {
  const able = 'max_concurrent_tasks: 1\ncapabilities: [paint]';
  const { ended } = await play({
    agents: { ann: agent(`description: A\n${able}`), ben: agent(`description: B\n${able}`) },
    tasks: {
      first: { description: 'The paint', requirements: ['paint'] },
      door: { description: 'Door', to: 'ann', dependencies: ['first'] },
      wall: { description: 'Wall', to: 'ben', dependencies: ['first'] },
    },
    script: `
- {task: 'first.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: 9, reason: mine}}]}
- {say: Done.}
`,
  });
  assert.deepEqual(
    ['first', 'door', 'wall'].map((id) => ended(id).state),
    ['completed', 'completed', 'completed'],
  );
});

const PRINT = 'call: [{request_dependency: {type: resource, need: to print, resource: printer}}]';
const parts = (from: number, to: number): string =>
  Array.from(
    { length: to - from + 1 },
    (_, n) => `- {agent: lead, turn: ${from + n}, call: [{create_task: {agent: hand, description: part}}]}`,
  ).join('\n');
const SHORT = {
  agents: {
    lead: agent('description: Leads\ntools: [create_task, delegate_to_agent, request_dependency]\nagents: [ben]'),
    hand: agent('description: Prints\ntools: [request_dependency]'),
    ben: agent('description: Is quick'),
  },
  tasks: { t: { description: 'Go', to: 'lead', budget: { children: 12 } } },
};

test("a cycle through a budget is broken: a child holds a share of it and waits for its parent's resource", async () => {
  const { ended, events } = await play({
    ...SHORT,
    script: `
- {agent: lead, turn: 1, ${PRINT}}
- {agent: lead, turn: 2, call: [{create_task: {agent: hand, description: part}}]}
- {agent: lead, turn: 3, call: [{delegate_to_agent: {agent: ben, task: be quick}}]}
${parts(4, 9)}
- {agent: lead, say: All done.}
- {agent: ben, say: Quick.}
- {agent: hand, turn: 1, ${PRINT}}
- {agent: hand, say: Done without.}
`,
  });
  assert.equal(ended('t').result, 'All done.');
  const [cycle] = events.filter((event) => event.name === 'deadlock.broken').map((event) => event['cycle'] as string[]);
  assert.ok(cycle?.includes('budget:t') && cycle.includes('turn:resource-printer'), cycle?.join(' '));
});

test('a request that would close a cycle through a budget is refused', async () => {
  const { ended, events, disk } = await play({
    ...SHORT,
    script: `
- {agent: lead, turn: 1, ${PRINT}}
${parts(2, 7)}
- {agent: lead, say: All done.}
- {agent: hand, turn: 1, ${PRINT}}
- {agent: hand, turn: 2, when: the budget of t, say: Done without.}
- {agent: hand, say: Done.}
`,
  });
  assert.equal(ended('t').result, 'All done.');
  assert.ok(
    [...disk.tree().values()].some((text) => text.includes('Done without.')),
    'one of them read why',
  );
  assert.ok(!events.some((event) => event.name === 'deadlock.broken'));
});
