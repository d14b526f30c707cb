/** `guild watch`: killed and started again, stopped by a person, two at once. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { unclosedJournals } from '../../kit/temp/journals.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/commands/watch', 4);

/** Each task takes two turns and one of a helper, with waits during which a kill can hit it. */
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
  const workspace = place(t, scripted(SLOW, dropped));
  for (const at of [/boss waits: thing t1/, /continues after its process was lost|hand list_directory/]) {
    const watch = workspace.spawn('watch');
    await watch.says(at);
    watch.child.kill('SIGKILL');
    assert.equal((await watch.ended).code, null);
  }
  t.diagnostic(isDone(workspace) ? 'it was done before it could be killed' : 'it was killed in the middle');
  const last = workspace.start('watch');
  await until(() => isDone(workspace));
  last.interrupt();
  assert.equal((await last.ended).code, 0);
  for (const id of TASKS) assert.equal(workspace.read(`results/${id}.md`), `# thing ${id}\n\nDone: ${id}.\n`);
  assert.equal(workspace.list('tasks/completed').length, 2 * TASKS.length, 'no helper was asked twice');
  assert.deepEqual(
    [workspace.list('tasks/active'), workspace.list('tasks/waiting'), workspace.list('tasks/pending')],
    [[], [], []],
  );
});

test('a watch reports the tasks of a killed process, with the reason', async (t) => {
  const workspace = place(
    t,
    scripted('- {wait: 30m, say: never}', { 'tasks/pending/a.json': '{"description": "thing", "to": "hand"}' }),
  );
  const watch = workspace.spawn('watch');
  await until(() => workspace.list('tasks/active').length === 1);
  watch.child.kill('SIGKILL');
  await watch.ended;
  assert.match(succeeds(await workspace.guild('state')).out, /^hand +blocked +a +its process is gone/m);
  assert.match(succeeds(await workspace.guild('why', 'a')).out, /lost its process; the next guild pump recovers it/);
});

test('Ctrl-C returns tasks to the queue, and a pump continues them', async (t) => {
  const workspace = place(
    t,
    scripted('- {wait: 30m, when: thing, times: 1, say: never}\n- say: done', {
      'tasks/pending/a.json': '{"description": "thing"}',
    }),
  );
  const watch = workspace.spawn('watch');
  await until(() => workspace.list('tasks/active').length === 1);
  await until(() => workspace.list('sessions').length === 1);
  const state = JSON.parse(succeeds(await workspace.guild('state', '--json')).out) as { processes: { pid: number }[] };
  assert.deepEqual(
    state.processes.map((process) => process.pid),
    [watch.child.pid],
  );
  watch.child.kill('SIGINT');
  const ended = await watch.ended;
  assert.equal(ended.code, 0);
  assert.match(ended.err, /open tasks are released/);
  assert.deepEqual([workspace.list('tasks/active'), workspace.list('tasks/pending')], [[], ['a.json']]);
  workspace.put('script.yaml', '- say: done');
  succeeds(await workspace.guild('pump'));
  assert.match(workspace.read('results/a.md'), /done/);
});

test('a second Ctrl-C ends it at once', async (t) => {
  const workspace = place(
    t,
    scripted('- {wait: 30m, say: never}', { 'tasks/pending/a.json': '{"description": "thing"}' }),
  );
  const watch = workspace.start('watch');
  await until(() => workspace.list('sessions').length === 1);
  watch.interrupt();
  watch.interrupt();
  assert.equal((await watch.ended).code, 130);
});

test('two watches share the work, and a task dropped while they idle is found', async (t) => {
  const files = scripted('- {when: /never ends/, wait: 30m, say: never}\n- {wait: 50ms, say: ok}');
  files['guild.yaml'] += 'limits: { parallel: 2 }\n';
  const workspace = place(t, files);
  const both = [workspace.spawn('watch', '--json'), workspace.spawn('watch', '--json')];
  for (const id of ['l1', 'l2', 'l3', 'l4'])
    workspace.put(`tasks/pending/${id}.json`, '{"description": "It never ends"}');
  // Each process takes two at a time and finishes none, so four are taken only if both take part.
  await until(() => workspace.list('tasks/active').length === 4);
  for (const id of ['l1', 'l2', 'l3', 'l4']) succeeds(await workspace.guild('task', 'cancel', id));
  await until(() => workspace.list('tasks/failed').length === 4);
  for (let i = 0; i < 24; i++) workspace.put(`tasks/pending/m${i}.json`, '{"description": "thing"}');
  await until(() => workspace.list('tasks/completed').length === 24);
  workspace.put('tasks/pending/late.json', '{"description": "late"}');
  await until(() => workspace.list('results').includes('late.md'));
  for (const watch of both) watch.child.kill('SIGTERM');
  const logs = (await Promise.all(both.map((watch) => watch.ended))).flatMap((ran) =>
    ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; task: string }),
  );
  const done = logs.filter((event) => event.name === 'task.completed').map((event) => event.task);
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

test('a process whose file in agents/live is deleted writes it again and continues', async (t) => {
  const workspace = place(t, scripted(SLOW, dropped));
  const watches = [workspace.start('watch'), workspace.start('watch')];
  await until(() => workspace.list('agents/live').filter((name) => name.endsWith('.json')).length === 2);
  const live = workspace.list('agents/live');
  await until(() => workspace.list('tasks/active').length > 0);
  for (const name of live) fs.rmSync(path.join(workspace.root, 'agents/live', name));
  await until(() => isDone(workspace));
  await until(() => String(workspace.list('agents/live')) === String(live));
  for (const { interrupt } of watches) interrupt();
  for (const { ended } of watches) assert.equal((await ended).code, 0);
  for (const id of TASKS) assert.equal(workspace.read(`results/${id}.md`), `# thing ${id}\n\nDone: ${id}.\n`);
  const unclosed = unclosedJournals(workspace.list('.guild/journal'));
  assert.deepEqual([workspace.list('tasks/active'), unclosed, workspace.list('tasks/failed')], [[], [], []]);
});

test('a pending task that is edited in place is read at once, not at the next look at everything', async (t) => {
  const files = scripted('- {agent: hand, say: "Done: {{task}}."}', {
    'tasks/pending/a.json': '{"description": "thing", "to": "nobody-here"}',
  });
  const workspace = place(t, { ...files, 'guild.yaml': files['guild.yaml']!.replace('rescan: 1s', 'rescan: 1h') });
  const watch = workspace.start('watch');
  await watch.says(/nobody-here/);
  workspace.put('tasks/pending/a.json', '{"description": "thing", "to": "hand"}');
  await until(() => workspace.list('results').includes('a.md'));
  watch.interrupt();
  assert.equal((await watch.ended).code, 0);
});

test('questions from before a watch are shown once, as new ones are', async (t) => {
  const workspace = place(t, scripted(ASKS, asking));
  const first = await workspace.guild('pump', '--all');
  assert.equal(first.code, 4, 'only a human can go on');
  const line = /^ +\+ human .*call-\S+ waits for you: guild inbox\n/m;
  const shown = line.exec(first.err)![0];
  const watch = workspace.start('watch');
  await watch.says(line);
  workspace.put('tasks/pending/b.json', '{"description":"write","to":"hand"}');
  await watch.says(/\+ human [^]*\+ human /);
  watch.interrupt();
  const { err } = await watch.ended;
  assert.equal(err.split(shown).length, 2, err);
  const lines = workspace.start('watch', '--json');
  await lines.says(/"task":"b\.call-/);
  lines.interrupt();
  const events = (await lines.ended).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; task: string; agent: string; earlier?: boolean });
  assert.deepEqual(
    events.map(({ name, task, agent, earlier }) => [name, task.slice(0, 7), agent, earlier]).sort(),
    ['a', 'b'].map((id) => ['task.created', `${id}.call-`, 'human', true]),
  );
});

test('the exit code of pump --all says whether a task waits for you; a single pass exits with 0', async (t) => {
  const workspace = place(t, scripted(ASKS, asking));
  assert.equal((await workspace.guild('pump', '--all', '--json')).code, 4);
  assert.equal((await workspace.guild('pump', '--all', '-q')).code, 4);
  const { out } = succeeds(await workspace.guild('pump', '--json'));
  const { waiting_for_you: ids } = JSON.parse(out.trim().split('\n').at(-1)!) as { waiting_for_you: string[] };
  succeeds(await workspace.approve(ids[0]!));
  succeeds(await workspace.guild('pump', '--all'));
  assert.equal(workspace.read('note.md'), 'hello');
});

test('an edit of guild.yaml takes effect in a running watch, or says which keys need a new start', async (t) => {
  const workspace = place(t, scripted('- {agent: boss, say: by the boss}\n- {agent: hand, say: by the hand}\n'));
  const good = workspace.read('guild.yaml');
  const watch = workspace.start('watch');
  await until(() => workspace.list('agents/live').length > 0);
  const result = async (id: string): Promise<string> => {
    workspace.put(`tasks/pending/${id}.json`, '{"description": "x"}');
    await until(() => workspace.list('results').includes(`${id}.md`));
    return workspace.read(`results/${id}.md`);
  };
  assert.match(await result('a'), /by the boss/);
  workspace.put('guild.yaml', good.replace('default_agent: boss', 'default_agent: hand\nlimits: {parallel: 2}'));
  await watch.says(/guild\.yaml changed: limits and default_agent are in effect\n/);
  assert.match(await result('b'), /by the hand/);
  const provider = good.replace('providers:\n', 'providers:\n  other: {base_url: "http://127.0.0.1:1/v1"}\n');
  workspace.put('guild.yaml', provider);
  await watch.says(/warning: guild\.yaml changed: [^;]+ are in effect; providers needs a new start of guild/);
  workspace.put('guild.yaml', `${provider}webhooks: {ci: {kind: github, secret_env: CI_SECRET}}\n`);
  await watch.says(/warning: guild\.yaml changed: webhooks waits for guild trust\n/);
  workspace.put('guild.yaml', `${provider}budgt: {usd: 1}\n`);
  await watch.says(/changed and cannot be used, so the previous settings stay in force: unknown key "budgt"/);
  workspace.put('guild.yaml', `${provider}budget: {usd: 1}\n`);
  await watch.says(/guild\.yaml changed: budget is in effect\n/);
  assert.match(await result('c'), /by the boss/);
  watch.interrupt();
  const { code, err } = await watch.ended;
  assert.equal(code, 0);
  assert.equal(err.match(/guild\.yaml changed/g)?.length, 5, err);
});
