/** Workers and a person's folder on machines that share nothing but the database. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, scripted, succeeds, whileRunning, type Place, type Ran, type Running } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';
import type { Placed } from '../../src/domain/task/task.js';

const test = sampleTests('postgres/desk', 4);

const options = { skip: NO_POSTGRES };
const SCRIPT = `- {agent: ana, turn: 1, say: "done: {{task}}"}
- {agent: asks, turn: 1, call: [{execute_command: {command: "touch made-by-asks"}}]}
- {agent: asks, turn: 2, say: "asked and answered"}
- {agent: reads, turn: 1, call: [{read_file: {path: .env}}]}
- {agent: reads, turn: 2, call: [{execute_command: {command: "touch made-by-reads"}}]}
- {agent: slow, turn: 1, wait: 30m, say: "at last"}
`;

async function machines(t: TestContext, count: number) {
  const { server, schema, end } = await field();
  const files = scripted(SCRIPT, {
    'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n',
    'agents/slow.md': '---\ndescription: Takes long\n---\nTake your time.\n',
    '.env': 'KEY=CANARY\n',
    'agents/reads.md': '---\ndescription: Reads\ntools: [read_file, execute_command]\n---\nRead.\n',
    'agents/asks.md': '---\ndescription: Asks\ntools: [execute_command]\n---\nAsk.\n',
  });
  // A change is noticed because it is reported, and not because all files are checked at intervals.
  files['guild.yaml'] = files['guild.yaml']!.replace('rescan: 1s', 'rescan: 10m');
  files['guild.yaml'] += `store: ${server.url}?schema=${schema}\ncoordination: { lease: 2s }\ngit: false\n`;
  return { places: Array.from({ length: count }, () => place(t, files)), server, schema, end };
}

async function stopped(...running: Running[]): Promise<void> {
  for (const one of running) one.interrupt();
  await Promise.all(running.map(({ ended }) => ended));
}

const has = (here: Place, file: string): boolean => fs.existsSync(path.join(here.root, file));
const read = (here: Place, file: string): string => fs.readFileSync(path.join(here.root, file), 'utf8');

test('a dropped file is done on another machine, and its result comes back', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('publish'));
  const running = [worker.start('watch'), desk.start('sync')];
  await whileRunning(running, running[1]!.says(/shows the store/));
  desk.put('tasks/pending/one.json', '{ "description": "in my own style", "to": "ana" }');
  await whileRunning(
    running,
    until(() => has(desk, 'results/one.md')),
  );
  assert.match(read(desk, 'results/one.md'), /done: one/);
  await until(() => has(desk, 'tasks/completed/one.json') && !has(desk, 'tasks/pending/one.json'));
  assert.equal(has(worker, 'tasks/completed/one.json'), false, 'a worker has no records');
  const events = fs.readdirSync(path.join(desk.root, 'events'));
  await until(() => read(desk, `events/${events[0]!}`).includes('task.completed'));
  assert.match(read(desk, 'sessions/ana-one.session.yaml'), /done: one/);
  await until(() => /^status: completed$/m.test(read(desk, 'sessions/ana-one.session.yaml')));
  // Deleted files come back, and the store keeps their content.
  fs.rmSync(path.join(desk.root, 'tasks/completed/one.json'));
  await until(() => has(desk, 'tasks/completed/one.json'));
  await stopped(...running);
  await end();
});

test('a tick in the mirrored ballot lets a worker on another machine act, once', options, async (t) => {
  const { places, end } = await machines(t, 3);
  const [desk, worker, other] = places as [Place, Place, Place];
  succeeds(await desk.guild('publish'));
  succeeds(await other.guild('publish'));
  const running = [worker.start('watch'), desk.start('sync')];
  const late = other.start('sync');
  desk.put('tasks/pending/may.json', '{"description":"May I?","to":"asks"}');
  const ballot = 'tasks/approvals.task.md';
  const isAsked = (place: Place): boolean => has(place, ballot) && /^- \[_\]/m.test(read(place, ballot));
  await whileRunning(
    [...running, late],
    until(() => isAsked(desk) && isAsked(other)),
  );
  await stopped(late);
  other.put(ballot, read(other, ballot).replace(/^- \[_\]/m, '- [-]'));
  desk.put(ballot, read(desk, ballot).replace(/^- \[_\]/m, '- [x]'));
  await whileRunning(
    running,
    until(() => has(desk, 'results/may.md')),
  );
  assert.match(read(desk, 'results/may.md'), /asked and answered/);
  assert.ok(has(worker, 'workspaces/asks/made-by-asks') || has(worker, 'made-by-asks'), 'it ran on the worker');
  assert.ok(!has(desk, 'workspaces/asks/made-by-asks'), 'and not at the desk');
  running.push(other.start('sync'));
  const first = /^- \[x\][^]*\n  status: approved\n[^]*\n  answered_by: \S+@\S+\n/m;
  await whileRunning(
    running,
    until(() => first.test(read(other, ballot))),
  );
  await stopped(...running);
  await end();
});

test('a running task is cancelled by moving its file to failed, and nowhere else', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('publish'));
  const running = [worker.start('watch'), desk.start('sync')];
  await whileRunning(running, running[1]!.says(/shows the store/));
  desk.put('tasks/pending/long.json', '{ "description": "take your time", "to": "slow" }');
  const active = (): string | undefined => desk.list('tasks/active').find((name) => name.startsWith('long_'));
  await whileRunning(
    running,
    until(() => active() !== undefined),
  );
  const name = active()!;
  const move = (from: string, to: string): void =>
    fs.renameSync(path.join(desk.root, 'tasks', from, name), path.join(desk.root, 'tasks', to, name));
  for (const state of ['pending', 'completed', 'waiting']) {
    move('active', state);
    await whileRunning(
      running,
      until(() => active() === name),
    );
    // The file of a running task is back in its place, and nowhere else.
    await until(() => !has(desk, `tasks/${state}/${name}`));
  }
  move('active', 'failed');
  await whileRunning(
    running,
    until(() => has(desk, 'tasks/failed/long.json')),
  );
  const { error } = JSON.parse(read(desk, 'tasks/failed/long.json')) as { error: { message: string } };
  assert.match(error.message, /moved to tasks\/failed/);
  await until(() => desk.list('tasks/active').length === 0);
  assert.deepEqual(desk.list('tasks/failed'), ['long.json'], 'under its own name, once');
  assert.deepEqual(desk.list('quarantine'), []);
  await stopped(...running);
  await end();
});

test('of two answers to one request the first counts, and the second person reads whose it was', options, async (t) => {
  const { places, end } = await machines(t, 3);
  const [one, other, worker] = places as [Place, Place, Place];
  succeeds(await one.guild('publish'));
  succeeds(await other.guild('publish'));
  succeeds(await one.guild('task', 'add', 'May I?', '--to', 'asks', '--id', 'may'));
  await worker.guild('pump', '--all');
  const [request] = JSON.parse((await other.guild('approve', '--json')).out) as { id: string; seen: string }[];
  const { id, seen } = request!;
  succeeds(await one.guild('reject', id, 'not today'));
  await worker.guild('pump', '--all');
  const late = await other.guild('approve', id, '--seen', seen);
  assert.notEqual(late.code, 0);
  assert.match(late.err, /was already rejected by \S+@\S+ at .*: not today/);
  assert.ok(!has(worker, 'workspaces/asks/made-by-asks') && !has(worker, 'made-by-asks'), 'the first answer holds');
  // An answer on the command line of any desk counts on the worker.
  succeeds(await one.guild('task', 'add', 'And now?', '--to', 'asks', '--id', 'now'));
  await worker.guild('pump', '--all');
  const [next] = JSON.parse((await other.guild('approve', '--json')).out) as { id: string }[];
  succeeds(await other.approve(next!.id));
  await worker.guild('pump', '--all');
  assert.equal(stateOf(await one.guild('task', 'show', 'now', '--json')), 'completed');
  assert.ok(has(worker, 'workspaces/asks/made-by-asks') || has(worker, 'made-by-asks'));
  await end();
});

test('a yes to a request whose words somebody changed in the store does not count', options, async (t) => {
  const { places, server, schema, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('publish'));
  succeeds(await desk.guild('task', 'add', 'May I?', '--to', 'asks', '--id', 'may'));
  for (const [word, forged] of [
    ['title', 'Approve command: ls'],
    ['diff', '+ harmless'],
  ]) {
    await worker.guild('pump', '--all');
    await server.sql(
      `update ${schema}.entry set rev = nextval('${schema}.rev'), value = jsonb_set(value::jsonb, '{task,context,request,${word}}', $1)::text
       where key like 'task/may.%' and live`,
      [JSON.stringify(forged)],
    );
    const [request] = JSON.parse((await desk.guild('approve', '--json')).out) as { id: string; seen: string }[];
    succeeds(await desk.guild('approve', request!.id, '--seen', request!.seen));
    await worker.guild('pump', '--all');
    assert.ok(!has(worker, 'workspaces/asks/made-by-asks') && !has(worker, 'made-by-asks'), word);
    const again = await desk.guild('inbox');
    assert.match(again.out, /Approve command: touch made-by-asks/);
    assert.match(again.out, /the words of the earlier request did not match its action/);
  }
  const [request] = JSON.parse((await desk.guild('approve', '--json')).out) as { id: string }[];
  succeeds(await desk.approve(request!.id));
  await worker.guild('pump', '--all');
  assert.ok(has(worker, 'workspaces/asks/made-by-asks') || has(worker, 'made-by-asks'));
  await end();
});

test('a secret that was read is not in the store, and its task names the machine that keeps it', options, async (t) => {
  const { places, server, schema, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('publish'));
  succeeds(await desk.guild('task', 'add', 'Read it', '--to', 'reads', '--id', 'reading'));
  for (const tool of ['read_file', 'execute_command']) {
    await worker.guild('pump', '--all');
    const [request] = JSON.parse((await desk.guild('approve', '--json')).out) as [
      { id: string; request: { tool: string } },
    ];
    assert.equal(request.request.tool, tool);
    if (tool === 'read_file') succeeds(await desk.approve(request.id));
  }
  const [{ value }] = (await server.sql(`select value from ${schema}.entry where key = 'task/reading'`)) as [
    { value: string },
  ];
  assert.equal((JSON.parse(value) as Placed).task.written?.secrets_on, os.hostname());
  const found = await server.sql(`select key from ${schema}.entry where value like '%CANARY%'`);
  assert.deepEqual(found, []);
  assert.deepEqual(await server.sql(`select log from ${schema}.line where text like '%CANARY%'`), []);

  succeeds(await desk.guild('task', 'add', 'Read on', '--to', 'reads', '--id', 'tied'));
  await server.sql(
    `update ${schema}.entry set rev = nextval('${schema}.rev'), value = jsonb_set(value::jsonb, '{task,written}', $1)::text
     where key = 'task/tied'`,
    [JSON.stringify({ messages: 1, last: 'user', secrets_on: os.hostname() })],
  );
  const running = worker.start('agent', 'start', 'ana');
  const why = async (): Promise<boolean> => /where the secrets are/.test((await desk.guild('why', 'tied')).out);
  await whileRunning([running], until(why));
  await stopped(running);
  assert.match((await desk.guild('why', 'tied')).out, /guild pump or guild watch runs it/);
  await end();
});

test('notes in memory reach the other desk, and a conflict loses neither', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [one, other] = places as [Place, Place];
  let running = [one.start('sync'), other.start('sync')];
  await Promise.all(running.map((each) => each.says(/shows the store/)));
  one.put('memory/plan.md', 'first\n');
  await until(() => has(other, 'memory/plan.md') && read(other, 'memory/plan.md') === 'first\n');
  await stopped(...running);
  one.put('memory/plan.md', 'first\nby one\n');
  other.put('memory/plan.md', 'first\nby other\n');
  running = [one.start('sync')];
  await running[0]!.says(/shows the store/);
  await stopped(...running);
  running = [other.start('sync')];
  await until(() => has(other, 'memory/plan.theirs.md'));
  assert.equal(read(other, 'memory/plan.theirs.md'), 'first\nby one\n');
  assert.equal(read(other, 'memory/plan.md'), 'first\nby other\n');
  await stopped(...running);
  await end();
});

test('a deleted note is deleted everywhere, and a deleted folder of notes comes back', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [one, other] = places as [Place, Place];
  const running = [one.start('sync'), other.start('sync')];
  await Promise.all(running.map((each) => each.says(/shows the store/)));
  for (const name of ['a', 'b']) one.put(`memory/${name}.md`, `${name}\n`);
  await until(() => has(other, 'memory/a.md') && has(other, 'memory/b.md'));
  fs.rmSync(path.join(one.root, 'memory/a.md'));
  await whileRunning(
    running,
    until(() => !has(other, 'memory/a.md')),
  );
  fs.rmSync(path.join(one.root, 'memory'), { recursive: true });
  await whileRunning(running, running[0]!.says(/memory\/ was deleted and is back/));
  await whileRunning(
    running,
    until(() => has(one, 'memory/b.md')),
  );
  assert.equal(read(other, 'memory/b.md'), 'b\n', 'the notes of the others are as they were');
  assert.equal(has(one, 'memory/a.md'), false);
  await stopped(...running);
  await end();
});

function stateOf({ out, err }: Ran): string {
  assert.ok(out !== '', err);
  return (JSON.parse(out) as { state: string }).state;
}

test('memory and context reach the workers, and what agents write there reaches the others', options, async (t) => {
  const { places, end } = await machines(t, 3);
  const [desk, one, two] = places as [Place, Place, Place];
  succeeds(await desk.guild('publish'));
  const running = [one.start('watch'), two.start('watch'), desk.start('sync')];
  await whileRunning(running, running[2]!.says(/shows the store/));
  desk.put('context/house.md', 'no shoes\n');
  await whileRunning(
    running,
    until(() => has(one, 'context/house.md') && has(two, 'context/house.md')),
  );
  one.put('memory/learned.md', 'shoes off\n');
  await whileRunning(
    running,
    until(() => has(two, 'memory/learned.md') && has(desk, 'memory/learned.md')),
  );
  assert.equal(read(two, 'memory/learned.md'), 'shoes off\n');
  assert.deepEqual(one.list('results'), [], 'a worker shows nothing else');
  await stopped(...running);
  await end();
});

test('a worker with other definitions takes nothing and says why', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('task', 'add', 'Do it', '--to', 'ana', '--id', 'one'));
  assert.match((await worker.guild('pump')).err, /no definitions were published[\s\S]*guild publish/);
  assert.equal(stateOf(await desk.guild('task', 'show', 'one', '--json')), 'pending');
  succeeds(await desk.guild('publish'));
  worker.put('agents/ana.md', '---\ndescription: Changed\n---\nAnswer otherwise.\n');
  assert.match((await worker.guild('pump')).err, /definitions in this folder differ from the published ones/);
  assert.equal(stateOf(await desk.guild('task', 'show', 'one', '--json')), 'pending');
  worker.put('agents/ana.md', '---\ndescription: Answers\n---\nAnswer.\n');
  assert.doesNotMatch((await worker.guild('pump', '--all')).err, /publish/, 'all is well, so nothing is said');
  assert.equal(stateOf(await desk.guild('task', 'show', 'one', '--json')), 'completed');
  await end();
});

test('a webhook is taken in beside guild serve, although a worker runs elsewhere', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  for (const { put, read: text } of places)
    put(
      'guild.yaml',
      `${text('guild.yaml')}inbox: {agent: ana}\nwebhooks:\n  ci: {kind: token, secret_env: CI_TOKEN}\n`,
    );
  succeeds(await desk.guild('publish'));
  const watch = worker.start('watch');
  await whileRunning([watch], watch.says(/watching/));
  const env = { CI_TOKEN: 'token-token-token' };
  const serve = desk.spawnWith({ env }, 'serve', '--port', '0');
  const address = await serve.says(/(http:\S+\/hooks\/ci)/);
  const headers = { authorization: `Bearer ${env.CI_TOKEN}` };
  assert.equal((await fetch(address, { method: 'POST', headers, body: 'It is green' })).status, 202);
  await whileRunning(
    [watch],
    until(async () => /completed .*@ana/.test((await desk.guild('task', 'list', '--all')).out)),
  );
  serve.child.kill('SIGINT');
  await serve.ended;
  await stopped(watch);
  await end();
});
