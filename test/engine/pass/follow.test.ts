/** Stages follow each other without a pass, unless something needs a wider look. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, following, ROOT, untilQuiet, type StartOptions } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';
import { agent, type Story } from '../../kit/stories/story.js';

const CHAIN = {
  one: agent('description: First\nhandoff: two'),
  two: agent('description: Second\nhandoff: three'),
  three: agent('description: Third'),
};
const BOARD = {
  boss: agent('description: Decides\nadvisors: [law, money]'),
  law: agent('description: Law'),
  money: agent('description: Money'),
};

const script = '- {say: Done.}\n';

interface Played {
  disk: SimDisk;
  passes: number;
  steps: number;
}

type Scene = Pick<Story, 'agents' | 'files'> & { to?: string };

function scene(disk: SimDisk, { to = 'one', ...rest }: Scene): void {
  const tasks = { t: { description: 'Do it', to } };
  writeStory(disk, { ...rest, name: 'follow', tasks, script, results: {}, calls: 0 });
}

async function played(story: Scene, options: StartOptions = {}): Promise<Played> {
  const disk = simDisk();
  scene(disk, story);
  const proc = following(cluster(script).start(disk, options));
  const { passes } = await untilQuiet(proc);
  return { disk, passes, steps: proc.steps() };
}

function ended(disk: SimDisk): string[] {
  return disk.list(`${ROOT}/tasks/completed`).map((name) => name.replace('.json', ''));
}

test('a chain of three ends in the pass that started it', async () => {
  const { disk, passes, steps } = await played({ agents: CHAIN });
  assert.equal(passes, 2, 'the second finds nothing to do');
  assert.ok(steps >= 8, `${steps} steps`);
  assert.ok(ended(disk).includes('t'));
});

test('advisors start together, and the last one to answer continues their asker', async () => {
  const { disk, passes } = await played({ agents: BOARD, to: 'boss' });
  assert.equal(passes, 2);
  assert.ok(ended(disk).includes('t'));
});

for (const [why, agents] of Object.entries({
  'a limit of tasks': { ...CHAIN, two: agent('description: Second\nhandoff: three\nmax_concurrent_tasks: 1') },
  'a shared conversation': { ...CHAIN, three: agent('description: Third\nsession: shared') },
}))
  test(`${why} is left to a pass`, async () => {
    const { disk, passes } = await played({ agents });
    assert.ok(passes > 2, `${passes} passes`);
    assert.ok(ended(disk).includes('t'));
  });

test('a process that hosts some agents leaves every step to a pass', async () => {
  const { disk, steps } = await played({ agents: CHAIN }, { agents: ['one', 'two', 'three'] });
  assert.equal(steps, 0);
  assert.ok(ended(disk).includes('t'));
});

test('stages beyond the parallel limit are left to a pass', async () => {
  const files = { 'guild.yaml': 'limits: {parallel: 1}\n' };
  const { disk, passes } = await played({ agents: BOARD, files, to: 'boss' });
  assert.ok(passes > 2, `${passes} passes`);
  assert.ok(ended(disk).includes('t'));
});

test('a stopped process does not start the next stage', async () => {
  const disk = simDisk();
  scene(disk, { agents: CHAIN });
  const house = cluster(script);
  const proc = house.start(disk);
  const { model } = proc.ports;
  const first = following(proc);
  proc.ports.model = {
    async call(request) {
      void first.engine.stop();
      return model.call(request);
    },
  };
  await first.engine.pump();
  assert.equal(house.calls.length, 1);
  assert.deepEqual(ended(disk), []);
});
