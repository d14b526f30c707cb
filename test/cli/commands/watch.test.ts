/** `guild watch`: killed and started again, stopped by a person, two at once. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

/** Each task takes two turns of its own and one of a helper's, with waits to be killed in. */
const SLOW = `
- {agent: boss, turn: 1, wait: 300ms, call: [{delegate_to_agent: {agent: hand, task: "Look, for {{task}}"}}]}
- {agent: hand, turn: 1, wait: 300ms, call: [{list_directory: {path: agents}}]}
- {agent: hand, wait: 300ms, say: Two agents.}
- {agent: boss, wait: 300ms, say: "Done: {{task}}."}
`;
const TASKS = ['t1', 't2', 't3', 't4'];
const dropped = Object.fromEntries(TASKS.map((id) => [`tasks/pending/${id}.json`, `{"description": "thing ${id}"}`]));

function isDone({ list }: Place): boolean {
  return list('tasks/completed').filter((file) => !file.includes('.call-')).length === TASKS.length;
}

test('kill -9 in the middle, started again: the same results, each call made once', async (t) => {
  const here = place(t, scripted(SLOW, dropped));
  for (const at of [/boss waits t1/, /resumes after a lost process|hand list_directory/]) {
    const watch = here.spawn('watch');
    await watch.says(at);
    watch.child.kill('SIGKILL');
    assert.equal((await watch.ended).code, null);
  }
  t.diagnostic(isDone(here) ? 'it was done before it could be killed' : 'it was killed in the middle');
  const last = here.spawn('watch');
  await until(() => isDone(here));
  last.child.kill('SIGTERM');
  assert.equal((await last.ended).code, 0);
  for (const id of TASKS) assert.equal(here.read(`results/${id}.md`), `# thing ${id}\n\nDone: ${id}.\n`);
  assert.equal(here.list('tasks/completed').length, 2 * TASKS.length, 'no helper was asked twice');
  assert.deepEqual([here.list('tasks/active'), here.list('tasks/waiting'), here.list('tasks/pending')], [[], [], []]);
});

test('what a killed process held is told, and why', async (t) => {
  const here = place(
    t,
    scripted('- {wait: 30m, say: never}', { 'tasks/pending/a.json': '{"description": "thing", "to": "hand"}' }),
  );
  const watch = here.spawn('watch');
  await until(() => here.list('tasks/active').length === 1);
  watch.child.kill('SIGKILL');
  await watch.ended;
  assert.match(succeeds(await here.guild('state')).out, /^hand +blocked +a +its process is gone/m);
  assert.match(succeeds(await here.guild('why', 'a')).out, /lost its process; the next guild pump recovers it/);
});

test('Ctrl-C puts tasks back, and a pump goes on with them', async (t) => {
  const here = place(
    t,
    scripted('- {wait: 30m, when: thing, times: 1, say: never}\n- say: done', {
      'tasks/pending/a.json': '{"description": "thing"}',
    }),
  );
  const watch = here.spawn('watch');
  await until(() => here.list('tasks/active').length === 1);
  await until(() => here.list('sessions').length === 1);
  const state = JSON.parse(succeeds(await here.guild('state', '--json')).out) as { processes: { pid: number }[] };
  assert.deepEqual(
    state.processes.map((one) => one.pid),
    [watch.child.pid],
  );
  watch.child.kill('SIGINT');
  const ended = await watch.ended;
  assert.equal(ended.code, 0);
  assert.match(ended.err, /open tasks are released/);
  assert.deepEqual([here.list('tasks/active'), here.list('tasks/pending')], [[], ['a.json']]);
  here.put('script.yaml', '- say: done');
  succeeds(await here.guild('pump'));
  assert.match(here.read('results/a.md'), /done/);
});

test('a second Ctrl-C ends it at once', async (t) => {
  const here = place(t, scripted('- {wait: 30m, say: never}', { 'tasks/pending/a.json': '{"description": "thing"}' }));
  const watch = here.start('watch');
  await until(() => here.list('sessions').length === 1);
  watch.interrupt();
  watch.interrupt();
  assert.equal((await watch.ended).code, 130);
});

test('two watches share the work, and a task dropped while they idle is found', async (t) => {
  const files = scripted('- {when: /never ends/, wait: 30m, say: never}\n- {wait: 50ms, say: ok}');
  files['guild.yaml'] += 'limits: { parallel: 2 }\n';
  const here = place(t, files);
  const both = [here.spawn('watch', '--json'), here.spawn('watch', '--json')];
  for (const id of ['l1', 'l2', 'l3', 'l4']) here.put(`tasks/pending/${id}.json`, '{"description": "It never ends"}');
  // Each of them takes two at a time and comes to the end of none: four are taken only if both take their part.
  await until(() => here.list('tasks/active').length === 4);
  for (const id of ['l1', 'l2', 'l3', 'l4']) succeeds(await here.guild('task', 'cancel', id));
  await until(() => here.list('tasks/failed').length === 4);
  for (let i = 0; i < 24; i++) here.put(`tasks/pending/m${i}.json`, '{"description": "thing"}');
  await until(() => here.list('tasks/completed').length === 24);
  here.put('tasks/pending/late.json', '{"description": "late"}');
  await until(() => here.list('results').includes('late.md'));
  for (const one of both) one.child.kill('SIGTERM');
  const logs = (await Promise.all(both.map((one) => one.ended))).flatMap((ran) =>
    ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; task: string }),
  );
  const done = logs.filter((one) => one.name === 'task.completed').map((one) => one.task);
  assert.equal(new Set(done).size, 25);
  assert.equal(done.length, 25, 'no task was done twice');
});

const ASKS = `
- {agent: hand, turn: 1, call: [{write_file: {path: note.md, content: hello}}]}
- {agent: hand, say: Written.}
`;
const asking = {
  'agents/hand.md': '---\ndescription: Helps\ntools: [write_file]\n---\nYou are the hand.\n',
  'tasks/pending/a.json': '{"description":"write","to":"hand"}',
};

test('whoever loses its file in agents/live makes it again and goes on', async (t) => {
  const here = place(t, scripted(SLOW, dropped));
  const watches = [here.start('watch'), here.start('watch')];
  await until(() => here.list('agents/live').filter((name) => name.endsWith('.json')).length === 2);
  const live = here.list('agents/live');
  await until(() => here.list('tasks/active').length > 0);
  for (const name of live) fs.rmSync(path.join(here.root, 'agents/live', name));
  await until(() => isDone(here));
  await until(() => String(here.list('agents/live')) === String(live));
  for (const { interrupt } of watches) interrupt();
  for (const { ended } of watches) assert.equal((await ended).code, 0);
  for (const id of TASKS) assert.equal(here.read(`results/${id}.md`), `# thing ${id}\n\nDone: ${id}.\n`);
  assert.deepEqual([here.list('tasks/active'), here.list('.guild/journal'), here.list('tasks/failed')], [[], [], []]);
});

test('a pending task that is edited in place is read at once, not at the next look at everything', async (t) => {
  const files = scripted('- {agent: hand, say: "Done: {{task}}."}', {
    'tasks/pending/a.json': '{"description": "thing", "to": "nobody-here"}',
  });
  const here = place(t, { ...files, 'guild.yaml': files['guild.yaml']!.replace('rescan: 1s', 'rescan: 1h') });
  const watch = here.start('watch');
  await watch.says(/nobody-here/);
  here.put('tasks/pending/a.json', '{"description": "thing", "to": "hand"}');
  await until(() => here.list('results').includes('a.md'));
  watch.interrupt();
  assert.equal((await watch.ended).code, 0);
});

test('what waited for you before a watch began is shown as it was when it was new, and once', async (t) => {
  const here = place(t, scripted(ASKS, asking));
  const first = await here.guild('pump', '--all');
  assert.equal(first.code, 4, 'only a human can go on');
  const line = /^ +\+ human a\.call-\S+ waits for you: guild approve\n/m;
  const said = line.exec(first.err)![0];
  const watch = here.start('watch');
  await watch.says(line);
  here.put('tasks/pending/b.json', '{"description":"write","to":"hand"}');
  await watch.says(/\+ human b\.call-/);
  watch.interrupt();
  const { err } = await watch.ended;
  assert.equal(err.split(said).length, 2, err);
  const lines = here.start('watch', '--json');
  await lines.says(/"task":"b\.call-/);
  lines.interrupt();
  const events = (await lines.ended).out
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one) as { name: string; task: string; agent: string; earlier?: boolean });
  assert.deepEqual(
    events.map(({ name, task, agent, earlier }) => [name, task.slice(0, 7), agent, earlier]).sort(),
    ['a', 'b'].map((id) => ['task.created', `${id}.call-`, 'human', true]),
  );
});

test('a pump until nothing moves tells by its exit code whether you are waited for; one pass is done when it is done', async (t) => {
  const here = place(t, scripted(ASKS, asking));
  assert.equal((await here.guild('pump', '--all', '--json')).code, 4);
  assert.equal((await here.guild('pump', '--all', '-q')).code, 4);
  const { out } = succeeds(await here.guild('pump', '--json'));
  const { waiting_for_you: ids } = JSON.parse(out.trim().split('\n').at(-1)!) as { waiting_for_you: string[] };
  succeeds(await here.guild('approve', ids[0]!));
  succeeds(await here.guild('pump', '--all'));
  assert.equal(here.read('note.md'), 'hello');
});

test('each edit of guild.yaml under a running watch is told once, and a mistake in it at once', async (t) => {
  const here = place(t, scripted('- say: ok'));
  const good = here.read('guild.yaml');
  const watch = here.start('watch', '--quiet');
  await until(() => here.list('agents/live').length > 0);
  here.put('tasks/pending/a.json', '{"description": "x"}');
  await until(() => here.list('results').includes('a.md'));
  here.put('guild.yaml', `${good}limits: {parallel: 2}\n`);
  await watch.says(/warning: guild\.yaml changed: this takes effect when guild is started again\n/);
  here.put('guild.yaml', `${good}budgt: {usd: 1}\n`);
  await watch.says(/changed, and guild could not start with it: unknown key "budgt"[^]+did you mean "budget"\?/);
  here.put('tasks/pending/b.json', '{"description": "x"}');
  await until(() => here.list('results').includes('b.md'));
  watch.interrupt();
  const { code, err } = await watch.ended;
  assert.equal(code, 0);
  assert.equal(err.match(/guild\.yaml changed/g)?.length, 2, err);
});
