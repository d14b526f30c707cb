/** Cancel, stop and retry follow parent links, not task ids that look like children. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const names = (disk: SimDisk, state: string): string[] => disk.list(path.join(ROOT, 'tasks', state)).sort();
const open = (disk: SimDisk): string[] => ['pending', 'active', 'waiting'].flatMap((state) => names(disk, state));

/** A task that delegates to one that waits for a human: three open tasks. */
const WAITS: Story = {
  name: 'a task that waits',
  agents: {
    lead: '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [asks]\n---\nLead.\n',
    asks: '---\ndescription: Asks\ntools: [write_file]\n---\nWrite.\n',
  },
  tasks: { top: { description: 'Do it', to: 'lead' } },
  asks: ['write_file'],
  script: `
- {agent: lead, when: /You were asked to stop/, say: Stopped.}
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: asks, task: a}}]}
- {agent: lead, say: Done.}
- {agent: asks, when: /You were asked to stop/, say: I could not write it.}
- {agent: asks, turn: 1, call: [{write_file: {path: out.txt, content: x}}]}
- {agent: asks, say: A}
`,
  results: {},
  calls: 0,
};

async function waiting(tasks: Story['tasks']): Promise<{ disk: SimDisk; proc: Proc }> {
  const disk = simDisk();
  writeStory(disk, { ...WAITS, tasks });
  const proc = cluster(WAITS.script, WAITS.asks).start(disk);
  await untilQuiet(proc);
  return { disk, proc };
}

async function want(proc: Proc, kind: 'cancel' | 'stop' | 'retry', id: string): Promise<void> {
  const at = proc.ports.clock.now().toISOString();
  await proc.ports.intents.submit({ kind, id: `${kind}-${id}`, task: id, by: 'human', at });
  await untilQuiet(proc);
}

const ALIKE: Story['tasks'] = {
  release: { description: 'Do it', to: 'lead' },
  'release.notes': { description: 'Do it', to: 'lead' },
};

for (const [kind, end] of [
  ['cancel', 'failed'],
  ['stop', 'completed'],
] as const) {
  test(`${kind} does not reach a task whose id only looks like a child`, async () => {
    const { disk, proc } = await waiting(ALIKE);
    await want(proc, kind, 'release');
    assert.ok(names(disk, end).includes('release.json'));
    assert.equal(open(disk).filter((name) => name.startsWith('release.notes')).length, 3, 'still waits for the human');
  });
}

test('a retry does not reach a task whose id only looks like a child', async () => {
  const { disk, proc } = await waiting(ALIKE);
  for (const id of ['release', 'release.notes']) await want(proc, 'cancel', id);
  assert.deepEqual(open(disk), []);
  await want(proc, 'retry', 'release');
  assert.ok(open(disk).includes('release.json'));
  assert.deepEqual(
    open(disk).filter((name) => name.startsWith('release.notes')),
    [],
  );
});

test('a retry reaches a task that a person put under it, whatever its id', async () => {
  const { disk, proc } = await waiting({
    ...WAITS.tasks,
    extra: { description: 'Also this', to: 'asks', parent: 'top' },
  });
  await want(proc, 'cancel', 'top');
  assert.ok(names(disk, 'failed').includes('extra.json'));
  await want(proc, 'retry', 'top');
  assert.ok(open(disk).includes('extra.json'));
});

test('a cycle of parent links does not hang the engine', async () => {
  const round = (parent: string): object => ({ description: 'Round', to: 'asks', parent });
  const { disk, proc } = await waiting({ ...WAITS.tasks, hen: round('egg'), egg: round('hen') });
  await want(proc, 'cancel', 'top');
  await want(proc, 'retry', 'top');
  assert.ok(open(disk).includes('top.json'));
  await want(proc, 'cancel', 'egg');
  assert.ok(names(disk, 'failed').includes('hen.json'));
});
