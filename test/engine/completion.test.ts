/** How a root comes to its certificate: what is open or unread is waited for, and the processes of a mesh are asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busWorld, memoryBus } from '../../src/adapters/bus.js';
import { DEFAULT_NOTE_BYTES, type Config } from '../../src/domain/config.js';
import type { Task } from '../../src/domain/task.js';
import { hall, ROOT, untilQuiet, type Guest } from '../kit/hall.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { lay, type Story } from '../kit/stories.js';

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

async function together(guests: Guest[]): Promise<void> {
  for (let n = 0; n < 60; n++) {
    const reports = await Promise.all(guests.map((guest) => guest.engine.pump()));
    if (!reports.some((report) => report.moved)) return;
  }
  throw new Error('still moving');
}

test('one process: the certificate is its own, and nobody is asked', async () => {
  const disk = simDisk();
  lay(disk, PAIR);
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  await untilQuiet(hall(PAIR.script).enter(disk, { bus }));
  assert.deepEqual(root(disk).certificate, { open: 0, unread: 0, effects: 0, agreed: 1, of: 1 });
  assert.deepEqual(bus.read('task'), []);
});

test('two processes of a mesh: both are asked twice and agree', async () => {
  const disk = simDisk();
  lay(disk, PAIR);
  const house = hall(PAIR.script);
  const [world, clock] = [busWorld(), simClock({ auto: true })];
  const guests = ['ann', 'ben'].map((name) => house.enter(disk, { bus: memoryBus({ world, clock }), agents: [name] }));
  await together(guests);
  assert.deepEqual(root(disk).certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  assert.match(disk.tree().get(`${ROOT}/results/t.md`)!, /2 of 2 processes agree/);
  const said = memoryBus({ world, clock })
    .read('task')
    .map(({ body }) => body.type);
  assert.deepEqual(said, ['completion_probe', 'completion_vote', 'completion_probe', 'completion_vote']);
});

test('a process that is paused is waited for once, and then left out by name', async () => {
  const disk = simDisk();
  lay(disk, { ...PAIR, tasks: { t: { description: 'Go', to: 'ann' }, u: { description: 'Go on', to: 'ann' } } });
  const house = hall(PAIR.script);
  const clock = simClock({ auto: true });
  const paused = house.enter(disk, { bus: memoryBus({ clock }), agents: ['cyd'] });
  await paused.engine.pump(); // it is there, and hears nothing more
  const guest = house.enter(disk, { bus: memoryBus({ clock }), agents: ['ann', 'ben'] });
  await untilQuiet(guest);
  for (const id of ['t', 'u'])
    assert.deepEqual(root(disk, id).certificate, { open: 0, unread: 0, effects: 0, agreed: 1, of: 2 });
  const told = guest.parts.store.events().filter((event) => event.name === 'root.certified');
  assert.deepEqual(
    told.map((event) => event['silent']),
    [[paused.parts.store.peer.id], [paused.parts.store.peer.id]],
  );
});

test('the last note is on its way when everybody else is done: it is heard before the root ends', async () => {
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
  lay(disk, story);
  const bus = memoryBus({ clock: simClock({ auto: true }) });
  const guest = hall(story.script).enter(disk, {
    bus,
    config: { channels },
    watchers: {
      // Told after its last turn has begun, and before it ends.
      event: ({ name }) => {
        if (name !== 'model.answered' || bus.read('news').length > 0) return;
        const at = '2026-01-01T00:00:00.000Z';
        const body = { type: 'said', text: 'the door is open' } as const;
        void bus.tell([{ id: 'n1', channel: 'news', from: 'ben', at, priority: 'normal', task: 't.call-x', body }]);
      },
    },
  });
  await untilQuiet(guest);
  assert.equal(root(disk).result, 'Then I close it.');
});
