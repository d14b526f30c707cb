/** The swarm, in real processes: one that hosts everybody, four that host one or two each, and one of them killed with `kill -9` in the middle. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, ROOT, succeeds, whileRunning, type Place, type Spawned } from '../kit/guild.js';
import { until } from '../kit/until.js';

const CALLS = 25;
const TERMINALS = [['breakdown', 'maker'], ['search'], ['file'], ['terminal']];

test('one process: bids, a breakdown, a check that sends work back, and the deliverable', async (t) => {
  const here = swarm(t);
  succeeds(await here.guild('pump', '--all', '-q'));
  await judge(here);
  assert.equal(count(here, '"model.answered"'), CALLS);
  const why = succeeds(await here.guild('why', 'build_user_api')).out;
  assert.match(why, /awarded to breakdown\n.* {2}breakdown: awarded 9 \(fitness 9, no record yet; needs 8\)/);
  assert.match(here.read('tasks/bids/build_user_api.md'), /\| search \| stepped back \| 2 \|/);
  const tree = succeeds(await here.guild('task', 'tree', 'build_user_api')).out;
  assert.match(tree, /check-\d @file no: A router without routes/);
  assert.doesNotMatch(tree, /models-again/, 'what was said twice is done once');
});

test('four terminals: each does what it hosts, and together they come to the same', async (t) => {
  const here = swarm(t);
  const peers = TERMINALS.map((names) => here.spawn('agent', 'start', ...names, '-q'));
  await whileRunning(
    peers,
    until(() => here.list('results').includes('build_user_api.md')),
  );
  await judge(here);
  assert.equal(count(here, '"model.answered"'), CALLS, 'no call was paid twice');
  await leave(peers);
});

test('one of four killed with kill -9 in the middle and started again: the same deliverable', async (t) => {
  const here = swarm(t);
  // The file agent thinks for a while, so that it is surely killed at work.
  here.put(
    'script.yaml',
    here.read('script.yaml').replace('when: Argon2\n  call:', 'when: Argon2\n  wait: 1s\n  call:'),
  );
  const peers = TERMINALS.map((names) => here.spawn('agent', 'start', ...names, '-q'));
  await until(() => here.list('tasks/active').some((name) => name.includes('.models.work_file')));
  peers[2]!.child.kill('SIGKILL');
  await peers[2]!.ended;
  peers[2] = here.spawn('agent', 'start', 'file', '-q');
  await whileRunning(
    peers,
    until(() => here.list('results').includes('build_user_api.md')),
  );
  await judge(here);
  const calls = count(here, '"model.answered"');
  assert.ok(calls === CALLS, `${calls} answers are in the books`);
  await leave(peers);
});

test('what nobody can do: a new agent is drafted and tried, the human allows it, and it does the work', async (t) => {
  const here = swarm(t);
  fs.mkdirSync(path.join(here.root, 'scratch/file'), { recursive: true });
  here.put('scratch/file/models.py', 'email: EmailStr\n');
  fs.rmSync(path.join(here.root, 'tasks/pending/build_user_api.json'));
  here.put(
    'tasks/pending/diagram.json',
    '{"description": "Draw the data model of the API", "requirements": ["diagram_drawing"]}',
  );
  assert.equal((await here.guild('pump', '--all', '-q')).code, 4, 'a human is asked');
  assert.ok(!here.list('agents').includes('drawer.md'), 'nothing of it is there before');
  assert.match(here.read('tasks/approvals.task.md'), /breakdown on the same task: I write files/);
  succeeds(await here.guild('approve', 'diagram.new-approve-1'));
  succeeds(await here.guild('pump', '--all', '-q'));
  assert.match(here.read('results/diagram.md'), /erDiagram/);
  assert.match(here.read('agents/drawer.md'), /^---\nprobation: true\n/);
  succeeds(await here.guild('check'));
});

async function judge(here: Place): Promise<void> {
  assert.match(here.read('results/build_user_api.md'), /The API for user management is written/);
  assert.match(here.read('scratch/file/routes.py'), /router\.delete/);
  // A page is there a moment before the last file has gone.
  await until(() => ['pending', 'active', 'waiting'].every((state) => here.list(`tasks/${state}`).length === 0));
  assert.deepEqual(here.list('tasks/failed'), []);
}

async function leave(peers: Spawned[]): Promise<void> {
  for (const { child } of peers) child.kill('SIGTERM');
  for (const { ended } of peers) await ended;
}

function count(here: Place, what: string): number {
  const lines = here.list('events').flatMap((file) => here.read(`events/${file}`).split('\n'));
  return lines.filter((line) => line.includes(what)).length;
}

function swarm(t: TestContext): Place {
  const here = place(t);
  fs.cpSync(path.join(ROOT, 'examples/swarm'), here.root, { recursive: true });
  return here;
}
