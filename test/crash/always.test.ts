/**
 * “Always” is a rule and an answer. The process dies at every change: an answer that is kept has
 * its rule, a rule is written once, and the command runs once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gate } from '../../src/adapters/policy-files/gate.js';
import { ALLOWLIST_FILE } from '../../src/adapters/policy-files/index.js';
import { approvalOf } from '../../src/domain/task/approval.js';
import { answerApproval } from '../../src/engine/approvals/answers.js';
import type { Disk } from '../../src/ports/disk.js';
import type { WorkspaceFiles } from '../../src/ports/workspace-files.js';
import { cluster, ROOT, untilQuiet, type Cluster, type Proc } from '../kit/cluster.js';
import { crashDisk } from '../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { writeStory } from '../kit/stories.js';
import { agent } from '../kit/stories/story.js';

const SCRIPT = `
- {agent: boss, turn: 1, call: [{execute_command: {command: touch made.txt}}]}
- {agent: boss, turn: 2, say: All done.}
`;
const ALWAYS = { approved: true, by: 'human', always: true } as const;
const RULE = '"/^touch made\\\\.txt$/"';
const FOLDER = { judge: () => ({ verdict: 'refuse', reason: 'nothing is here' }) } as unknown as WorkspaceFiles;

test('an answer that says always has its rule, whenever its process dies', async () => {
  for (let n = 1; ; n++) if (!(await diesAt(n))) return assert.ok(n > 3, `only ${n} changes were tried`);
});

/** False if there was no change `n`. */
async function diesAt(n: number): Promise<boolean> {
  const { disk, world, request } = await asked();
  const failing = crashDisk(disk, n);
  const first = started(world, failing);
  const told = await answered(first, request).catch(() => false);
  first.die();
  const kept = disk.tree().get(`${ROOT}/tasks/completed/${request}.json`);
  const where = `died at change ${n}`;
  if (told || kept !== undefined) assert.equal(rulesIn(disk), 1, `${where}: the answer counts, so its rule does`);
  const next = started(world, disk);
  await next.ports.presence.sweep();
  // The intent of the person is still there; the next process takes it.
  await answered(next, request);
  await untilQuiet(next, 400);
  await next.store.close();
  next.die();
  assert.equal(rulesIn(disk), 1, where);
  assert.match(disk.tree().get(`${ROOT}/tasks/completed/work.json`) ?? '', /All done/, where);
  return failing.count() >= n;
}

test('two processes that answer always at once make one answer and one rule', async () => {
  const { disk, world, request } = await asked();
  const both = [started(world, disk), started(world, disk)];
  const taken = await Promise.all(both.map((proc) => answered(proc, request)));
  assert.deepEqual(taken.sort(), [false, true]);
  assert.equal(rulesIn(disk), 1);
  for (const proc of both) proc.die();
});

/** A workspace whose agent has asked to run a command. */
async function asked(): Promise<{ disk: SimDisk; world: Cluster; request: string }> {
  const disk = simDisk();
  writeStory(disk, {
    name: '',
    agents: { boss: agent('description: Does it\ntools: [execute_command]') },
    tasks: { work: { description: 'Begin', to: 'boss' } },
    script: '',
    results: {},
    calls: 0,
  });
  for (const file of disk.tree().keys()) await disk.sync(file);
  const world = cluster(SCRIPT, ['execute_command']);
  const asking = started(world, disk);
  await untilQuiet(asking, 400);
  const open = [...asking.store.tasks.open()].find(({ task }) => approvalOf(task) !== undefined);
  await asking.store.close();
  asking.die();
  return { disk, world, request: open!.task.id };
}

/** The process looks at the folder, as every pass does, and then takes the answer. */
async function answered(proc: Proc, request: string): Promise<boolean> {
  await untilQuiet(proc, 400);
  return answerApproval(proc.ports, request, ALWAYS, 'window');
}

/** A process whose rules are in the file that people use. */
function started(world: Cluster, disk: Disk): Proc {
  const proc = world.start(disk);
  const { peer } = proc.ports.presence;
  disk.makeFolder(`${ROOT}/.guild/tmp`);
  const real = gate({ root: ROOT, disk, folder: FOLDER, peer: peer.id, isSandboxed: () => true });
  proc.ports.gate.allowAlways = real.allowAlways;
  return proc;
}

function rulesIn(disk: SimDisk): number {
  return (disk.tree().get(`${ROOT}/${ALLOWLIST_FILE}`) ?? '').split(RULE).length - 1;
}
