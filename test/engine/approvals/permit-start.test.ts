/** `approval_required` on a task: a person is asked before it begins. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { approvalOf } from '../../../src/domain/task/approval.js';
import { answerApproval } from '../../../src/engine/approvals/answers.js';
import { cluster, ROOT, untilQuiet, type Cluster, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, BALLOT, mark, writeStory } from '../../kit/stories/story.js';

const BOARD = '## TODO\n- [ ] @ana "Check Redis" id: check\n  approval_required: true\n';
const OFFERED = '## TODO\n- [ ] "Check Redis" id: check\n  approval_required: yes\n';

async function begin(board: string): Promise<{ disk: SimDisk; proc: Proc; world: Cluster }> {
  const disk = simDisk();
  const script = '- {call: [{place_bid: {reason: I can, able: true, fitness: 9, proceed: true}}]}\n';
  const answer = '- {task: check, say: It is up.}\n';
  const agents = { ana: agent('description: Looks'), ben: agent('description: Looks too') };
  const files = { 'tasks/plan.task.md': board };
  writeStory(disk, { name: '', agents, files, tasks: {}, script: answer + script, results: {}, calls: 0 });
  const world = cluster(answer + script);
  const proc = world.start(disk);
  await untilQuiet(proc);
  return { disk, proc, world };
}

const open = (proc: Proc): string[] =>
  [...proc.ports.tasks.open()].flatMap(({ task }) => approvalOf(task)?.id ?? []).sort();

for (const [which, board] of Object.entries({ addressed: BOARD, offered: OFFERED }))
  test(`an ${which} task waits for a yes and costs nothing until then`, async () => {
    const { disk, proc, world } = await begin(board);
    assert.equal(world.calls.length, 0);
    assert.match(disk.tree().get(BALLOT)!, /Approve the start of: Check Redis/);
    assert.ok(mark(disk, '[x]'));
    await untilQuiet(proc);
    const placed = await proc.ports.tasks.read('check');
    assert.deepEqual([placed?.state, placed?.task.result], ['completed', 'It is up.']);
    assert.match(disk.tree().get(path.join(ROOT, 'tasks/plan.task.md'))!, /- \[x\]/);
  });

test('a no fails the task, and a retry asks again', async () => {
  const { proc, world } = await begin(BOARD);
  await answerApproval(proc.ports, open(proc)[0]!, { approved: false, by: 'human', reason: 'not today' }, 'test');
  await untilQuiet(proc);
  const refused = await proc.ports.tasks.read('check');
  assert.deepEqual([refused?.state, refused?.task.error?.code], ['failed', 'not_allowed']);
  assert.match(refused!.task.error!.message, /not today/);
  const intent = { kind: 'retry', id: 'r1', task: 'check', by: 'human', at: '2026-01-01T00:00:00.000Z' } as const;
  await proc.ports.intents.submit(intent);
  await untilQuiet(proc);
  assert.equal(world.calls.length, 0);
  assert.equal(open(proc).length, 1);
  await answerApproval(proc.ports, open(proc)[0]!, { approved: true, by: 'human' }, 'test');
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('check'))?.state, 'completed');
});

test('a yes holds for the text that was shown', async () => {
  const { disk, proc, world } = await begin(BOARD);
  await answerApproval(proc.ports, open(proc)[0]!, { approved: true, by: 'human' }, 'test');
  const file = [...disk.tree().keys()].find((name) => name.endsWith('/waiting/check.json'))!;
  disk.save(file, disk.tree().get(file)!.replace('Check Redis', 'Delete Redis'));
  await untilQuiet(proc);
  assert.equal(world.calls.length, 0);
  assert.match(disk.tree().get(BALLOT)!, /Approve the start of: Delete Redis/);
});

test('a plain no does not ask', async () => {
  const { proc } = await begin(BOARD.replace('true', 'false'));
  assert.equal((await proc.ports.tasks.read('check'))?.state, 'completed');
});

test('an agent cannot lift the requirement', async () => {
  const { proc } = await begin(BOARD.replace('id: check', 'id: check depends_on: later'));
  const fields = { approval_required: null };
  const change = await proc.ports.boardTools.change('ben', 'check', { fields }, []);
  assert.match(JSON.stringify(change), /only a person can change approval_required/);
});
