/** A task that has not started can go to another agent; others are refused with the reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, writeStory, type Story } from '../../kit/stories/story.js';

const AGENTS = {
  ana: agent('description: A\ntools: [reassign_task, ask_human]'),
  ben: agent('description: B'),
};

function start(story: Pick<Story, 'tasks' | 'script'>): { proc: Proc; disk: SimDisk } {
  const disk = simDisk();
  writeStory(disk, { name: '', agents: AGENTS, results: {}, calls: 0, ...story });
  return { proc: cluster(story.script).start(disk), disk };
}

const assign = (proc: Proc, task: string, to: string): Promise<void> =>
  proc.ports.intents.submit({ kind: 'assign', id: `${task}-${to}`, task, to, by: 'human', at: '2026-01-01T00:00:00Z' });

const reasons = (disk: SimDisk): unknown[] =>
  [...disk.tree()]
    .filter(([file]) => file.startsWith(`${ROOT}/events/`))
    .flatMap(([, text]) => text.trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .flatMap((event) => (event['name'] === 'intent.refused' ? [event['why']] : []))
    .sort();

test('the new agent does the task, and the event says who had it', async () => {
  const { proc } = start({
    tasks: { job: { description: 'Work', to: 'ana' } },
    script: '- {agent: ben, say: Done by ben.}',
  });
  await assign(proc, 'job', 'ben');
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('job'))?.task.result, 'Done by ben.');
  assert.deepEqual(await proc.ports.intents.list(), []);
});

test('a started task, an ended one, an unknown agent and the same agent are refused, and nothing changes', async () => {
  const { proc, disk } = start({
    tasks: { asks: { description: 'Ask', to: 'ana' }, ends: { description: 'End', to: 'ana' } },
    script: "- {task: asks, turn: 1, call: [{ask_human: {question: 'Which?'}}]}\n- {task: ends, say: Done.}",
  });
  await untilQuiet(proc);
  for (const [task, to] of [
    ['asks', 'ben'],
    ['ends', 'ben'],
    ['asks', 'bem'],
    ['ghost', 'ben'],
  ] as const)
    await assign(proc, task, to);
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('asks'))?.task.to, 'ana');
  assert.deepEqual(reasons(disk), [
    'asks has started, and its conversation belongs to ana',
    'ends has ended (completed)',
    'there is no agent bem (did you mean ben?); the agents are: ana, ben',
    'there is no task ghost',
  ]);
  assert.deepEqual(await proc.ports.intents.list(), []);
});

test('an agent cannot move work of another goal', async () => {
  const { proc } = start({
    tasks: {
      mine: { description: 'Try', to: 'ana' },
      gate: { description: 'Ask', to: 'ana' },
      theirs: { description: 'Wait', to: 'ana', dependencies: ['gate'] },
    },
    script: `
- {task: gate, turn: 1, call: [{ask_human: {question: 'Which?'}}]}
- {task: mine, turn: 1, call: [{reassign_task: {id: theirs, agent: ben}}]}
- {task: mine, turn: 2, when: does not belong to the goal, say: Refused.}
`,
  });
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('mine'))?.task.result, 'Refused.');
  assert.equal((await proc.ports.tasks.read('theirs'))?.task.to, 'ana');
});
