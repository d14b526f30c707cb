/**
 * The certificate of a root: it waits for open tasks and unread notes, and asks other processes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busWorld, memoryBus } from '../../kit/memory/bus.js';
import { DEFAULT_NOTE_BYTES, type Config } from '../../../src/domain/config/config.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import type { Bus } from '../../../src/ports/bus.js';
import { printTask } from '../../../src/text/records/task.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\n${front}\n---\nWork.\n`;
const PAIR: Story = {
  name: 'a pair',
  agents: {
    ann: agent('description: A\ntools: [delegate_to_agent]\nagents: [ben]'),
    ben: agent('description: B'),
  },
  tasks: { t: { description: 'Go', to: 'ann' } },
  script: `
- {agent: ann, turn: 1, call: [{delegate_to_agent: {agent: ben, task: help}}]}
- {agent: ben, say: Helped.}
- {agent: ann, turn: 2, say: Done.}
`,
  results: {},
  calls: 3,
};

function root(disk: SimDisk, id = 't'): Task {
  return JSON.parse(disk.tree().get(`${ROOT}/tasks/completed/${id}.json`)!) as Task;
}

async function together(procs: Proc[]): Promise<void> {
  for (let n = 0; n < 60; n++) {
    const reports = await Promise.all(procs.map((proc) => proc.engine.pump()));
    if (!reports.some((report) => report.moved)) return;
  }
  throw new Error('still moving');
}

test('a single process certifies a root without asking others', async () => {
  const disk = simDisk();
  writeStory(disk, PAIR);
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  await untilQuiet(cluster(PAIR.script).start(disk, { bus }));
  assert.deepEqual(root(disk).certificate, { open: 0, unread: 0, effects: 0, agreed: 1, of: 1 });
  assert.deepEqual(bus.read('task'), []);
});

test('two processes of a mesh agree in two phases', async () => {
  const disk = simDisk();
  writeStory(disk, PAIR);
  const house = cluster(PAIR.script);
  const [world, clock] = [busWorld(), simClock({ auto: true })];
  const procs = ['ann', 'ben'].map((name) => house.start(disk, { bus: memoryBus({ world, clock }), agents: [name] }));
  await together(procs);
  assert.deepEqual(root(disk).certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  assert.match(disk.tree().get(`${ROOT}/results/t.md`)!, /2 of 2 processes agree/);
  const said = memoryBus({ world, clock })
    .read('task')
    .map(({ body }) => body.type);
  assert.deepEqual(said, ['completion_probe', 'completion_vote', 'completion_probe', 'completion_vote']);
});

test('a silent process is waited for once, then named as silent', async () => {
  const disk = simDisk();
  writeStory(disk, { ...PAIR, tasks: { t: { description: 'Go', to: 'ann' }, u: { description: 'Go on', to: 'ann' } } });
  const house = cluster(PAIR.script);
  const clock = simClock({ auto: true });
  const paused = house.start(disk, { bus: memoryBus({ clock }), agents: ['cyd'] });
  await paused.engine.pump(); // it has joined, and gets no more notes
  const proc = house.start(disk, { bus: memoryBus({ clock }), agents: ['ann', 'ben'] });
  await untilQuiet(proc);
  for (const id of ['t', 'u'])
    assert.deepEqual(root(disk, id).certificate, { open: 0, unread: 0, effects: 0, agreed: 1, of: 2 });
  const certified = (await proc.ports.events.list()).filter((event) => event.name === 'root.certified');
  assert.deepEqual(
    certified.map((event) => event['silent']),
    [[paused.ports.presence.peer.id], [paused.ports.presence.peer.id]],
  );
});

/** Ann's root, with a note about this task between her last turn and her end. */
async function lateNote(about: { task: string; root?: string }): Promise<Task> {
  const channels: Config['channels'] = { news: { readers: ['ann'], maxBytes: DEFAULT_NOTE_BYTES } };
  const story: Story = {
    ...PAIR,
    agents: {
      ann: agent('description: A\ntools: [delegate_to_agent]\nagents: [ben]'),
      ben: agent('description: B\ntools: [broadcast]'),
    },
    script: `
- {agent: ann, turn: 1, say: I am done.}
- {agent: ann, turn: 2, when: the door is open, say: Then I close it.}
`,
  };
  const disk = simDisk();
  writeStory(disk, story);
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  const proc = cluster(story.script).start(disk, {
    bus,
    config: { channels },
    watchers: {
      // The note arrives after the answer of the last turn.
      event: ({ name }) => {
        if (name !== 'model.answered' || bus.read('news').length > 0) return;
        const at = '2026-01-01T00:00:00.000Z';
        const body = { type: 'said', text: 'the door is open' } as const;
        void bus.tell([{ id: 'n1', channel: 'news', from: 'ben', at, priority: 'normal', ...about, body }]);
      },
    },
  });
  await untilQuiet(proc);
  return root(disk);
}

test('a note about the work that arrives last is read before the root ends', async () => {
  assert.equal((await lateNote({ task: 't.call-x' })).result, 'Then I close it.', 'in the format of earlier versions');
  assert.equal((await lateNote({ task: 't.call-x', root: 't' })).result, 'Then I close it.');
});

test('a note about another root whose id looks like a child is not waited for', async () => {
  assert.equal((await lateNote({ task: 't.notes', root: 't.notes' })).result, 'I am done.');
});

test('a silent process is missing in every certificate until it answers', async () => {
  const disk = simDisk();
  writeStory(disk, PAIR);
  const house = cluster(PAIR.script);
  const [world, clock] = [busWorld(), simClock({ auto: true })];
  const paused = house.start(disk, { bus: memoryBus({ clock }), agents: ['cyd'] });
  await paused.engine.pump();
  const proc = house.start(disk, { bus: memoryBus({ world, clock }), agents: ['ann', 'ben'] });
  await untilQuiet(proc);
  const add = (id: string): Promise<boolean> =>
    proc.ports.tasks.create(makeTask({ id, description: 'Go', to: 'ann', created_at: '2026-01-01T00:00:00.000Z' }));
  await add('later');
  await untilQuiet(proc);
  assert.deepEqual(root(disk, 'later').certificate, { open: 0, unread: 0, effects: 0, agreed: 1, of: 2 });
});

test('a note that arrives after the work of a pattern does not delay its root', async () => {
  const channels: Config['channels'] = { news: { readers: ['ann'], maxBytes: DEFAULT_NOTE_BYTES } };
  const story: Story = {
    ...PAIR,
    agents: { ann: agent('description: A\nadvisors: [ben]'), ben: agent('description: B') },
    script: '- {agent: ben, say: Mind the door.}\n- {agent: ann, say: Done.}',
  };
  const disk = simDisk();
  writeStory(disk, story);
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  const proc = cluster(story.script).start(disk, {
    bus,
    config: { channels },
    watchers: {
      event: ({ name, task }) => {
        if (name !== 'task.completed' || task !== 't.work') return;
        const at = '2026-01-01T00:00:00.000Z';
        const body = { type: 'said', text: 'the door is open' } as const;
        void bus.tell([{ id: 'n1', channel: 'news', from: 'ben', at, priority: 'normal', task: 't.x', body }]);
      },
    },
  });
  await untilQuiet(proc);
  assert.equal(root(disk).result, 'Done.');
});

/**
 * Two processes of a mesh and one that hosts all agents. `now` runs when this phase of the vote
 * begins.
 */
async function whileAsked(phase: 1 | 2, now: (disk: SimDisk, bus: Bus) => void, channels: Config['channels'] = {}) {
  const disk = simDisk();
  const script = `${PAIR.script}- {agent: ann, turn: 3, when: the door is open, say: Then I close it.}`;
  writeStory(disk, { ...PAIR, script });
  const house = cluster(script);
  const [world, clock] = [busWorld(), simClock({ auto: true })];
  const start = (agents: string[] | undefined): Proc =>
    house.start(disk, {
      bus: memoryBus({ world, clock }),
      config: { channels },
      ...(agents === undefined ? {} : { agents }),
    });
  const procs = [['ann'], ['ben'], undefined].map(start);
  const other = procs[2]!;
  await other.ports.presence.join();
  let asked = 0;
  other.ports.bus.subscribe('task', ({ body }) => {
    if (body.type === 'completion_probe' && body.phase === phase && asked++ === 0) now(disk, other.ports.bus);
  });
  await together(procs.slice(0, 2));
  assert.ok(asked > 0, 'they were asked');
  await together(procs);
  return { disk, events: await other.ports.events.list() };
}

for (const phase of [1, 2] as const)
  test(`a task that is added under the root during phase ${phase} is waited for`, async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const more = makeTask({
      id: 't.more',
      parent: 't',
      root: 't',
      role: 'subtask',
      depth: 1,
      description: 'More',
      to: 'ben',
      created_at: at,
    });
    const put = (on: SimDisk): void => on.save('/w/tasks/pending/t.more.json', printTask(more));
    const { disk, events } = await whileAsked(phase, put);
    const ends = events.flatMap(({ name, task }) => (name === 'task.completed' ? [task] : []));
    assert.ok(ends.indexOf('t.more') >= 0 && ends.indexOf('t.more') < ends.indexOf('t'), String(ends));
    assert.equal(root(disk).certificate?.open, 0);
  });

for (const phase of [1, 2] as const)
  test(`a note that arrives during phase ${phase} is read before the root ends`, async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const body = { type: 'said', text: 'the door is open' } as const;
    const { disk } = await whileAsked(
      phase,
      (_, bus) =>
        void bus.tell([{ id: 'n1', channel: 'news', from: 'ben', at, priority: 'normal', task: 't.x', body }]),
      { news: { readers: ['ann'], maxBytes: DEFAULT_NOTE_BYTES } },
    );
    assert.equal(root(disk).result, 'Then I close it.');
  });
