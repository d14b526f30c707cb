/** A budget of money with a model of unknown price: the human decides, and nothing counts as 0. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, play } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';
import { agent, BALLOT, mark } from '../../kit/stories/story.js';

async function played(box: string, budget: object) {
  const asked: string[] = [];
  const human = (disk: SimDisk): boolean => {
    const read = disk.read(BALLOT);
    if (read.kind === 'file') asked.push(read.bytes.toString('utf8'));
    return mark(disk, box);
  };
  const story: Story = {
    name: 'x',
    agents: { ana: agent('description: Answers\ntools: [read_file]') },
    files: { 'memory/a.md': 'text' },
    tasks: { ask: { description: 'Which?', to: 'ana', budget } },
    script: `
- {agent: ana, turn: 1, call: [{read_file: {path: memory/a.md}}]}
- {agent: ana, say: This one.}
`,
    results: {},
    calls: 2,
    human,
  };
  const disk = simDisk();
  writeStory(disk, story);
  const world = cluster(story.script);
  const proc = world.start(disk);
  proc.ports.price = () => undefined;
  await play(proc, story, disk);
  return { asked, calls: world.calls.length, task: (await proc.ports.tasks.read('ask'))! };
}

test('the human is asked once before the first call, and a yes counts for the whole task', async () => {
  const { asked, calls, task } = await played('[x]', { usd: 1 });
  assert.equal(asked.filter((text) => text.includes('- [_]')).length, 1);
  assert.match(asked[0]!, /spend_without_price/);
  assert.match(asked[0]!, /the usd budget of this task cannot be kept/);
  assert.equal(calls, 2);
  assert.equal(task.task.result, 'This one.');
});

test('after a no, no model is called, and the hint says how to set the price', async () => {
  const { calls, task } = await played('[-]', { usd: 1 });
  assert.equal(calls, 0);
  assert.equal(task.state, 'failed');
  assert.match(task.task.error!.message, /has a usd budget, and the price of .* is not known/);
  assert.match(task.task.error!.hint!, /prices: \{/);
});

test('without a budget of money nobody is asked', async () => {
  const { asked, task } = await played('[x]', { tokens: 100_000 });
  assert.deepEqual(asked, []);
  assert.equal(task.task.result, 'This one.');
});
