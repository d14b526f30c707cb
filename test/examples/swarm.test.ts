/** The swarm example in one process, in four processes, and with one of the four killed. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, ROOT, succeeds, whileRunning, type Place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';
import { startAgents, startTogether, stopAgents } from './terminals.js';
import { until } from '../kit/until.js';

const test = sampleTests('examples/swarm', 4);

const CALLS = 25;
const TERMINALS = [['breakdown', 'maker'], ['search'], ['file'], ['terminal']];

test('one process: bids, a breakdown, a check that sends work back, and the deliverable', async (t) => {
  const workspace = swarm(t);
  succeeds(await workspace.guild('pump', '--all', '-q'));
  await judge(workspace);
  assert.equal(count(workspace, '"model.answered"'), CALLS);
  const why = succeeds(await workspace.guild('why', 'build_user_api')).out;
  assert.match(why, /awarded to breakdown\n.* {2}breakdown: awarded 9 \(fitness 9, no record yet; needs 8\)/);
  assert.match(workspace.read('tasks/bids/build_user_api.md'), /\| search \| stepped back \| 2 \|/);
  const tree = succeeds(await workspace.guild('task', 'tree', 'build_user_api')).out;
  assert.match(tree, /check-\d @file no: A router without routes/);
  assert.doesNotMatch(tree, /models-again/, 'what was said twice is done once');
});

test('four terminals: each runs its own agents, and together they produce the same deliverable', async (t) => {
  const workspace = swarm(t);
  const peers = await startTogether(workspace, TERMINALS, 'build_user_api');
  await whileRunning(
    peers,
    until(() => workspace.list('results').includes('build_user_api.md')),
  );
  await judge(workspace);
  assert.equal(count(workspace, '"model.answered"'), CALLS, 'no call was paid twice');
  await stopAgents(peers);
});

test('one of four killed with kill -9 and restarted: the same deliverable', async (t) => {
  const workspace = swarm(t);
  // The file agent thinks for a while, so that it is surely killed while it works.
  workspace.put(
    'script.yaml',
    workspace.read('script.yaml').replace('when: Argon2\n  call:', 'when: Argon2\n  wait: 1s\n  call:'),
  );
  const peers = await startTogether(workspace, TERMINALS, 'build_user_api');
  await until(() => workspace.list('tasks/active').some((name) => name.includes('.models.work_file')));
  peers[2]!.child.kill('SIGKILL');
  await peers[2]!.ended;
  peers[2] = startAgents(workspace, ['file']);
  await whileRunning(
    peers,
    until(() => workspace.list('results').includes('build_user_api.md')),
  );
  await judge(workspace);
  const calls = count(workspace, '"model.answered"');
  // An agent that is down is not asked for a bid: fewer calls are possible, but none is paid twice.
  assert.ok(calls > CALLS / 2 && calls <= CALLS, `${calls} model calls`);
  await stopAgents(peers);
});

test('a task that no agent can do: a new agent is drafted and tried, the human approves it, and it does the work', async (t) => {
  const workspace = swarm(t);
  fs.mkdirSync(path.join(workspace.root, 'scratch/file'), { recursive: true });
  workspace.put('scratch/file/models.py', 'email: EmailStr\n');
  fs.rmSync(path.join(workspace.root, 'tasks/pending/build_user_api.json'));
  workspace.put(
    'tasks/pending/diagram.json',
    '{"description": "Draw the data model of the API", "requirements": ["diagram_drawing"]}',
  );
  assert.equal((await workspace.guild('pump', '--all', '-q')).code, 4, 'a human is asked');
  assert.ok(!workspace.list('agents').includes('drawer.md'), 'nothing of it is there before');
  assert.match(workspace.read('tasks/approvals.task.md'), /breakdown on the same task: I write files/);
  succeeds(await workspace.approve('diagram.new-approve-1'));
  succeeds(await workspace.guild('pump', '--all', '-q'));
  assert.match(workspace.read('results/diagram.md'), /erDiagram/);
  assert.match(workspace.read('agents/drawer.md'), /^---\nprobation: true\n/);
  succeeds(await workspace.guild('check'));
});

async function judge(workspace: Place): Promise<void> {
  assert.match(workspace.read('results/build_user_api.md'), /The API for user management is written/);
  assert.match(workspace.read('scratch/file/routes.py'), /router\.delete/);
  // A page appears a moment before the last file is gone.
  await until(() => ['pending', 'active', 'waiting'].every((state) => workspace.list(`tasks/${state}`).length === 0));
  assert.deepEqual(workspace.list('tasks/failed'), []);
}

function count(workspace: Place, what: string): number {
  const lines = workspace.list('events').flatMap((file) => workspace.read(`events/${file}`).split('\n'));
  return lines.filter((line) => line.includes(what)).length;
}

function swarm(t: TestContext): Place {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples/swarm'), workspace.root, { recursive: true });
  return workspace;
}
