/** The engine publishes changes of agents' states in order and once, from any process. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { busWorld, memoryBus } from '../../kit/memory/bus.js';
import type { Note } from '../../../src/domain/coordination/note.js';
import type { Bus } from '../../../src/ports/bus.js';
import { readyQueue } from '../../../src/engine/core/ready-queue.js';
import type { Ports } from '../../../src/engine/core/context.js';
import { statePublisher } from '../../../src/engine/pass/publish-states.js';
import { foldStates } from '../../../src/rules/coordination/published-states.js';
import { cluster, play, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { until } from '../../kit/until.js';
import { writeStory, STORIES, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\n${front}\n---\nDo what you are asked.\n`;
const STORY = STORIES.find(({ name }) => name.startsWith('states:'))!;
const bus = (proc: Proc): Bus => proc.ports.bus;
const at = (file: string): string => path.join(ROOT, file);

function laid(story: Pick<Story, 'agents' | 'tasks' | 'script'> & Partial<Story>): { disk: SimDisk; house: Cluster } {
  const disk = simDisk();
  writeStory(disk, { name: '', results: {}, calls: 0, ...story, files: { 'bus/state.jsonl': '', ...story.files } });
  return { disk, house: cluster(story.script, story.asks) };
}

/** The published states of an agent, in order. */
function statesOf(proc: Proc, who: string): string {
  const states = bus(proc)
    .read('state')
    .flatMap(({ body }) => (body.type === 'state_change' && body.agent === who ? [body.toState] : []));
  return states.join(' ');
}

test('each change from working to complete is published with its reason and trigger', async () => {
  const { disk, house } = laid(STORY);
  const proc = house.start(disk);
  await play(proc, STORY, disk);
  assert.equal(statesOf(proc, 'mid'), 'working blocked working waiting complete');
  assert.equal(statesOf(proc, 'lead'), 'working blocked working waiting complete');
  assert.equal(statesOf(proc, 'leaf'), 'working waiting complete');
  const notes = bus(proc).read('state');
  const mid = notes.flatMap(({ body }) => (body.type === 'state_change' && body.agent === 'mid' ? [body] : []));
  const ids = disk
    .list(at('tasks/completed'))
    .map((name) => name.replace('.json', ''))
    .sort();
  const [, first, second] = ids;
  assert.deepEqual(
    mid.map(({ trigger }) => trigger),
    [`task.claimed ${first}`, `task.parked ${first}`, `task.ready ${first}`, `task.ended ${first}`, 'task.ended top'],
  );
  assert.equal(mid[1]!.reason, `for ${second}`);
  assert.ok(notes.every(({ from, priority }) => from === 'engine' && priority === 'normal'));
  assert.ok(!disk.tree().get(at('events/2026-01-01.jsonl'))!.includes('agent.moved'), 'every move is in the table');
});

test('nothing is read or published if nothing changed', async () => {
  const { disk, house } = laid({ ...STORY, asks: ['delegate_to_agent'] });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'lead'), 'working blocked');
  const { store } = proc;
  let looks = 0;
  const counted: Ports = {
    ...proc.ports,
    tasks: {
      ...store.tasks,
      open: () => (looks++, store.tasks.open()),
      read: (id) => (looks++, store.tasks.read(id)),
    },
    bus: { ...bus(proc), tell: async () => (looks++, undefined) },
  };
  const publisher = statePublisher({ ...counted, queue: readyQueue(counted.tasks) });
  await publisher.publish();
  const first = looks;
  assert.ok(first > 0, 'the first call must look');
  await publisher.publish();
  await publisher.publish();
  assert.equal(looks, first);
});

test('several processes, some of which die, publish every move once', async () => {
  for (let round = 0; round < 5; round++) {
    const { disk, house } = laid(STORY);
    const procs = [house.start(disk), house.start(disk), house.start(disk)];
    for (let pass = 0; pass < 40; pass++) {
      const proc = procs[(pass * (round + 1) + round) % procs.length]!;
      await proc.engine.pump();
      if (pass === 3 + round) {
        procs[0]!.die();
        procs.splice(0, 1, house.start(disk));
      }
    }
    const lines = disk.tree().get(at('bus/state.jsonl'))!.trimEnd().split('\n');
    const ids = lines.map((line) => (JSON.parse(line) as Note).id);
    assert.equal(new Set(ids).size, ids.length, 'one note per move');
    const published = foldStates(procs[0]!.ports.bus.read('state'));
    for (const who of ['lead', 'mid', 'leaf']) assert.equal(published.get(who)?.state, 'complete', who);
  }
});

test('a process that starts later learns from the notes who took part and how it ended', async () => {
  const { disk, house } = laid(STORY);
  const first = house.start(disk);
  for (let pass = 0; pass < 3; pass++) await first.engine.pump();
  assert.equal(statesOf(first, 'mid'), 'working blocked working');
  // The process dies when mid's task has ended and nothing is published yet.
  first.die();
  const mid = disk.list(at('tasks/waiting')).find((name) => name.startsWith('top.call'))!;
  const text = disk.tree().get(at(`tasks/waiting/${mid}`))!;
  disk.save(
    at(`tasks/completed/${mid}`),
    JSON.stringify({ ...JSON.parse(text), result: 'done', ended_at: '2026-01-01T00:00:00.000Z' }),
  );
  disk.remove(at(`tasks/waiting/${mid}`));
  const second = house.start(disk);
  await second.engine.pass('all', () => undefined, new Set());
  await until(() => statesOf(second, 'mid') !== 'working blocked working');
  assert.equal(statesOf(second, 'mid'), 'working blocked working waiting', 'the root is still open');
  await untilQuiet(second);
  assert.equal(statesOf(second, 'mid'), 'working blocked working waiting complete');
});

test('a failed task puts its agent in error until it works again; a cancelled one does not', async () => {
  const { disk, house } = laid({
    agents: { ana: agent('description: A\nmodel: nobody/knows'), ben: agent('description: B') },
    tasks: { a: { description: 'fails', to: 'ana' }, b: { description: 'waits', to: 'ben', dependencies: ['x'] } },
    script: '- {agent: ana, say: fixed}\n- {agent: ben, say: B}',
  });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'ana'), 'working error');
  await proc.ports.intents.submit({ kind: 'cancel', id: 'i', task: 'b', by: 'human', at: '2026' });
  disk.save(at('agents/ana.md'), agent('description: A'));
  await proc.ports.intents.submit({ kind: 'retry', id: 'j', task: 'a', by: 'human', at: '2026' });
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'ana'), 'working error working waiting complete');
  assert.ok(!statesOf(proc, 'ben').includes('error'), statesOf(proc, 'ben'));
});

test('an agent with an unreadable file is in error, and idle once the file is fixed', async () => {
  const { disk, house } = laid({ agents: { ana: '---\nmodel: [\n---\n' }, tasks: {}, script: '- say: x' });
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'ana'), 'error');
  disk.save(at('agents/ana.md'), agent('description: A'));
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'ana'), 'error idle');
});

test('a move that is not in the table is published and recorded as an event', async () => {
  const { disk, house } = laid({ agents: { ana: agent('description: A') }, tasks: {}, script: '- say: x' });
  const proc = house.start(disk);
  const strange: Note = {
    id: 'by-hand',
    channel: 'state',
    from: 'human',
    at: '2026-01-01T00:00:00.000Z',
    priority: 'normal',
    body: { type: 'state_change', agent: 'ana', fromState: 'idle', toState: 'waiting', reason: '', trigger: '' },
  };
  await bus(proc).tell([strange]);
  await untilQuiet(proc);
  assert.equal(statesOf(proc, 'ana'), 'waiting idle');
  const moved = (await proc.ports.events.list()).filter(({ name }) => name === 'agent.moved');
  assert.equal(moved.length, 1);
  assert.equal((moved[0]!['problem'] as { code: string }).code, 'not_a_move');
});

test('several processes on one memory bus publish one history too', async () => {
  const world = busWorld();
  const own = (): Bus => memoryBus({ clock: simClock({ auto: true }), world });
  const { disk, house } = laid(STORY);
  const procs = [house.start(disk, { bus: own() }), house.start(disk, { bus: own() })];
  for (let pass = 0; pass < 30; pass++) await procs[pass % 2]!.engine.pump();
  for (const who of ['lead', 'mid', 'leaf'])
    assert.equal(foldStates(own().read('state')).get(who)?.state, 'complete', who);
});

/** One agent that is paused before its second turn, and one that could do the same work. */
const PAUSE = {
  agents: {
    ana: agent('description: A\ntools: [read_file]\ncapabilities: [x]'),
    ben: agent('description: B\ntools: [read_file]\ncapabilities: [x]\npriority: D'),
  },
  script: `
- {agent: ana, turn: 1, call: [{read_file: {path: agents/ana.md}}]}
- {agent: ana, turn: 2, say: done by ana}
- {agent: ben, say: done by ben}
`,
};

test('a paused agent takes no task, and its work waits until it is resumed', async () => {
  const { disk, house } = laid({ ...PAUSE, tasks: { t: { description: 'do it', to: 'ana' } } });
  disk.save(at('storage/paused/ana'), 'on holiday\n');
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.equal(house.calls.length, 0);
  assert.deepEqual(disk.list(at('tasks/pending')), ['t.json']);
  assert.equal(statesOf(proc, 'ana'), 'paused');
  disk.remove(at('storage/paused/ana'));
  await untilQuiet(proc);
  assert.deepEqual(disk.list(at('tasks/completed')), ['t.json']);
  assert.equal(statesOf(proc, 'ana'), 'paused working waiting complete');
});

test('an agent paused during a turn finishes the turn and its calls, then releases the task', async () => {
  const { disk, house } = laid({ ...PAUSE, tasks: { t: { description: 'do it', to: 'ana' } } });
  const proc = house.start(disk, {
    watchers: {
      event(event) {
        if (event.name === 'model.answered' && event['turn'] === 1) disk.save(at('storage/paused/ana'), '');
      },
    },
  });
  await untilQuiet(proc);
  assert.equal(house.calls.length, 1, 'no second turn');
  assert.deepEqual(disk.list(at('tasks/pending')), ['t.json']);
  const released = (await proc.ports.events.list()).find(({ name }) => name === 'task.released');
  assert.equal(released?.['why'], 'ana is paused');
  const session = [...disk.tree()].find(([file]) => file.endsWith('.session.yaml'))![1];
  assert.match(session, /role: tool/, 'its call was executed');
  disk.remove(at('storage/paused/ana'));
  await untilQuiet(proc);
  assert.equal(house.calls.length, 2, 'no turn is paid twice');
  assert.deepEqual(disk.list(at('tasks/completed')), ['t.json']);
});

test('unassigned work goes to an agent that is not paused, in every process', async () => {
  const { disk, house } = laid({ ...PAUSE, tasks: { t: { description: 'do it', requirements: ['x'] } } });
  disk.save(at('storage/paused/ana'), '');
  const procs = [house.start(disk), house.start(disk)];
  for (let pass = 0; pass < 8; pass++) await procs[pass % 2]!.engine.pump();
  assert.match(disk.tree().get(at('results/t.md'))!, /done by ben/);
});

test('unassigned work waits if only paused agents fit', async () => {
  const { disk, house } = laid({ ...PAUSE, tasks: { t: { description: 'do it', requirements: ['x'] } } });
  for (const who of ['ana', 'ben']) disk.save(at(`storage/paused/${who}`), '');
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.deepEqual([disk.list(at('tasks/pending')), house.calls.length], [['t.json'], 0]);
});
