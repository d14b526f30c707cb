/** A newcomer's first minutes, as the README shows them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { findRoot } from '../../src/cli/args/find-workspace.js';
import { place, scripted, succeeds, whileRunning } from '../kit/guild.js';
import { until } from '../kit/until.js';

const EXAMPLE = JSON.stringify({
  description: 'Build a REST API for user management',
  type: 'software_development',
  context: {
    requirements: ['CRUD operations', 'authentication', 'validation'],
    tech_stack: ['Python', 'FastAPI', 'PostgreSQL'],
  },
});

test('init writes a valid workspace, never overwrites one, and prints the next steps', async (t) => {
  const { guild, guildWith, put, read, root } = place(t);
  const made = succeeds(await guild('init', 'w'));
  assert.match(made.err, /cd w\n {2}guild run orchestrator/);
  assert.match(made.err, /OPENAI_API_KEY/);
  const cwd = path.join(root, 'w');
  const check = succeeds(await guildWith({ cwd }, 'check'));
  assert.equal(check.err, '', 'no problem and no warning');
  assert.match(check.out, /good, 8 agents/);
  put('w/agents/planner.md', 'mine');
  succeeds(await guild('init', 'w'));
  assert.equal(read('w/agents/planner.md'), 'mine');
});

test('a new swarm is in order, the tool of its web plugin included; a tool that a plugin may bring is only a warning', async (t) => {
  const { guild, guildWith, put, root } = place(t);
  succeeds(await guild('init', 's', '--swarm'));
  const cwd = path.join(root, 's');
  const check = succeeds(await guildWith({ cwd }, 'check'));
  assert.equal(check.err, '', 'no problem and no warning');
  put('s/agents/extra.md', '---\ndescription: Looks\ntools: [lab_look]\n---\nYou look.\n');
  assert.match(
    succeeds(await guildWith({ cwd }, 'check')).err,
    /warning: [^]*unknown tool: "lab_look"[^]*a plugin may provide it/,
  );
});

test('a missing key is one clear message, and no work is created', async (t) => {
  const { guild, guildWith, root, list } = place(t);
  succeeds(await guild('init', '--quiet'));
  const ran = await guild('run', 'planner', 'Hello', '--id', 'hello');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /OPENAI_API_KEY is not set: export it, or choose another model .* in .*guild\.yaml/);
  assert.match(ran.err, /no task was created/);
  for (const folder of ['tasks/failed', 'tasks/pending', 'results', 'sessions'])
    assert.deepEqual(list(folder), [], folder);
  const anthropic = await guildWith({ env: { ANTHROPIC_API_KEY: '' } }, 'run', 'planner', 'x', '--model', 'sonnet');
  assert.match(anthropic.err, /ANTHROPIC_API_KEY is not set/);
  assert.equal((await guildWith({ cwd: root }, 'doctor')).code, 0);
});

test('a process without the key leaves tasks to one that has it, and to itself once the model needs none', async (t) => {
  const { guild, guildWith, put, list } = place(t, {
    'guild.yaml': 'default_agent: boss\n',
    'agents/boss.md': '---\ndescription: Decides\n---\nYou decide.\n',
    'agents/hand.md': '---\ndescription: Does\n---\nYou do.\n',
    'script.yaml': '- say: ok\n',
    'tasks/pending/named.json': '{"description": "x", "to": "hand"}',
    'tasks/pending/open.json': '{"description": "y"}',
  });
  const pumped = succeeds(await guild('pump', '--all'));
  assert.match(pumped.err, /warning: OPENAI_API_KEY is not set, so this process leaves the tasks of boss, hand alone/);
  assert.match(pumped.err, /open: 2 pending/);
  for (const task of ['named', 'open'])
    assert.match(
      succeeds(await guild('why', task)).out,
      /is ready, and a process that can .*; here, OPENAI_API_KEY is/,
    );
  const withKey = { env: { OPENAI_API_KEY: 'k' } };
  assert.match(succeeds(await guildWith(withKey, 'why', 'open')).out, /is ready; guild pump or guild watch runs it/);
  put(
    'guild.yaml',
    'model: offline/x\nproviders: {offline: {kind: scripted, script: script.yaml}}\ndefault_agent: boss\n',
  );
  const done = succeeds(await guild('pump', '--all'));
  assert.doesNotMatch(done.err, /is not set/);
  assert.deepEqual(list('tasks/completed'), ['named.json', 'open.json']);
});

test('a rejected key fails the task that met it; the others wait, and a task that somebody waits for says why', async (t) => {
  const tasks = Object.fromEntries(['a', 'b', 'c'].map((id) => [`tasks/pending/${id}.json`, '{"description": "x"}']));
  const script = '- {agent: boss, fail: auth, message: x rejected the key}\n';
  const { guild, put, list } = place(t, scripted(script, tasks));
  put(
    'guild.yaml',
    'model: s/m\nproviders: {s: {kind: scripted, script: script.yaml}}\ndefault_agent: boss\nlimits: {parallel: 1}\n',
  );
  const pumped = succeeds(await guild('pump', '--all'));
  assert.deepEqual([list('tasks/failed').length, list('tasks/pending').length], [1, 2]);
  assert.equal(pumped.err.match(/x rejected the key; other tasks that need s\/m wait here/g)?.length, 1);
  const ran = await guild('run', 'boss', 'Hello', '--id', 'mine');
  assert.match(ran.err, /problem: x rejected the key/);
  assert.equal(ran.code, 1);
  const retried = await guild('task', 'retry', 'mine', 'absent', ...list('tasks/failed').map((f) => f.slice(0, 1)));
  assert.match(retried.err, /no task absent/);
  assert.equal(retried.code, 1);
  put('script.yaml', '- say: ok\n');
  succeeds(await guild('pump', '--all'));
  assert.deepEqual([list('tasks/failed'), list('tasks/completed').length], [[], 4]);
});

test('a running watch takes the tasks of an agent as soon as its file names a model that it can call', async (t) => {
  const { guild, put, spawn, root } = place(t);
  succeeds(await guild('init', '--quiet'));
  put('script.yaml', '- say: ok\n');
  const yaml = fs.readFileSync(path.join(root, 'guild.yaml'), 'utf8');
  put('guild.yaml', `${yaml}\nproviders: {offline: {kind: scripted, script: script.yaml}}\n`);
  put('tasks/pending/a.json', '{"description": "x", "to": "planner"}');
  const watch = spawn('watch');
  await whileRunning([watch], watch.says(/leaves the tasks of/));
  put('agents/planner.md', '---\ndescription: Plans\nmodel: offline/x\n---\nYou plan.\n');
  await whileRunning(
    [watch],
    until(() => fs.existsSync(path.join(root, 'tasks/completed/a.json'))),
  );
  watch.child.kill('SIGKILL');
  await watch.ended;
});

test('a dropped task becomes a result, one pump at a time', async (t) => {
  const script = `
- {agent: boss, turn: 1, say: I ask., call: [{delegate_to_agent: {agent: hand, task: Look around}}]}
- {agent: hand, turn: 1, call: [{list_directory: {path: agents}}]}
- {agent: hand, say: Two agents.}
- {agent: boss, when: Two agents, say: "Done: {{task}}."}
`;
  const { guild, list, read } = place(t, scripted(script, { 'tasks/pending/api.json': EXAMPLE }));
  assert.match(succeeds(await guild('task', 'list')).out, /^pending {2}api +Build a REST API/);
  const first = succeeds(await guild('pump'));
  assert.match(first.err, /boss waits: Build a REST API for user management api$/m);
  assert.match(succeeds(await guild('why', 'api')).out, /waits for a task:\n {2}→ api\.call-\w+ \(@hand\) is ready/);
  succeeds(await guild('pump'));
  assert.deepEqual(list('results'), []);
  succeeds(await guild('pump'));
  assert.equal(read('results/api.md'), '# Build a REST API for user management\n\nDone: api.\n');
  assert.match(succeeds(await guild('pump')).err, /nothing to do; no open tasks/);
  assert.match(
    succeeds(await guild('task', 'tree', 'api')).out,
    /^completed api @boss .*\n└─ completed call-\w+ @hand/,
  );
  assert.match(read('sessions/boss-api.session.yaml'), /tech_stack/, 'the context reached the agent');
});

test('run works only on its own task', async (t) => {
  const { guild, list } = place(t, scripted('- say: ok', { 'tasks/pending/other.json': EXAMPLE }));
  assert.equal(succeeds(await guild('run', 'hand', 'Mine', '--id', 'mine', '-q')).out, 'ok\n');
  assert.deepEqual([list('tasks/pending'), list('tasks/completed')], [['other.json'], ['mine.json']]);
});

test('run prints the answer once, whichever agent gave it', async (t) => {
  const script = `
- {agent: first, say: A draft.}
- {agent: second, call: [{final_report: {report: The final text.}}]}
- {agent: plain, say: Said at once.}
`;
  const agents = {
    'agents/first.md': '---\ndescription: Begins\nhandoff: second\n---\nYou begin.\n',
    'agents/second.md': '---\ndescription: Ends\ntools: [final_report]\n---\nYou end.\n',
    'agents/plain.md': '---\ndescription: Answers\n---\nYou answer.\n',
  };
  const { guild } = place(t, scripted(script, agents));
  assert.equal(succeeds(await guild('run', 'first', 'x')).out, 'The final text.\n');
  assert.equal(succeeds(await guild('run', 'plain', 'x')).out, 'Said at once.\n');
});

test('a task without a suitable agent fails with that reason, and a retry offers it again', async (t) => {
  const { guild, put, read, list } = place(
    t,
    scripted('- say: ok', { 'tasks/pending/fly.json': '{"description": "x", "requirements": ["flying"]}' }),
  );
  assert.match(succeeds(await guild('pump')).err, /fly.*no agent has the capability flying/);
  assert.ok(!('to' in (JSON.parse(read('tasks/failed/fly.json')) as object)));
  put('agents/bird.md', '---\ndescription: Flies\ncapabilities: [flying]\n---\nYou fly.\n');
  succeeds(await guild('task', 'retry', 'fly'));
  succeeds(await guild('pump', '--all'));
  assert.deepEqual(list('tasks/completed'), ['fly.json']);
});

test('pump --all continues to the end and reports how much it did', async (t) => {
  const { guild } = place(
    t,
    scripted('- say: "ok"', { 'tasks/pending/a.json': EXAMPLE, 'tasks/pending/b.json': EXAMPLE }),
  );
  const { out } = succeeds(await guild('pump', '--all', '--json'));
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(lines.at(-1), { moved: true, advanced: 2, pending: 0, active: 0, waiting: 0, waiting_for_you: [] });
});

test('an answer is streamed from the model server, with and without a key, with and without /v1', async (t) => {
  const { guild, guildWith, start, put, root } = place(t);
  succeeds(await guild('init', 'w', '-q'));
  put('w/agents/guide.md', '---\ndescription: Guides\n---\nYou are the guide.\n');
  put('play.yaml', '- {agent: guide, pace: 2ms, say: "One step, then the next."}\n');
  const server = start('model-server', '--script', 'play.yaml', '--port', '0', '--json');
  const url = await server.says(/"url":"(http[^"]+)"/);
  const run = async (suffix: string, env: Record<string, string>): Promise<void> => {
    const options = { cwd: path.join(root, 'w'), env: { OPENAI_BASE_URL: url.replace(/\/v1$/, suffix), ...env } };
    const ran = succeeds(await guildWith(options, 'run', 'guide', 'What now?'));
    assert.equal(ran.out, 'One step, then the next.\n');
    assert.match(ran.err, /results\/task_\w+\.md/);
  };
  await run('/v1', {});
  await run('', { OPENAI_API_KEY: 'sk-nothing' });
  await run('/v1/', { ANTHROPIC_API_KEY: 'sk-other' });
  server.interrupt();
  assert.equal((await server.ended).code, 0);
  put('w/guild.yaml', 'timeouts: { tries: 1 }\n');
  const gone = await guildWith(
    { cwd: path.join(root, 'w'), env: { OPENAI_BASE_URL: url } },
    'run',
    'planner',
    'x',
    '--quiet',
  );
  assert.equal(gone.code, 1);
  assert.match(gone.err, /cannot be reached at http:\/\/127\.0\.0\.1:\d+\/v1 .*check the address/);
});

test('an agent runs on a stand-in of Anthropic, with the address as Claude Code writes it', async (t) => {
  const { guild, guildWith, start, put, root } = place(t);
  succeeds(await guild('init', 'w', '-q'));
  put(
    'play.yaml',
    '- {turn: 1, call: [{list_files: {path: memory}}]}\n- {when: {tool: list_files}, call: [{final_report: {report: I have looked.}}]}\n',
  );
  put('w/guild.yaml', 'model: anthropic/claude-opus-5-5\ntimeouts: { tries: 1 }\n');
  const server = start('model-server', '--as', 'anthropic', '--script', 'play.yaml', '--port', '0', '--json');
  const url = await server.says(/"url":"(http[^"]+)"/);
  const run = (env: Record<string, string>) =>
    guildWith({ cwd: path.join(root, 'w'), env }, 'run', 'planner', 'Look around', '--quiet');
  const bare = url.replace(/\/v1$/, '');
  assert.equal(succeeds(await run({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'k' })).out, 'I have looked.\n');
  assert.equal(succeeds(await run({ ANTHROPIC_BASE_URL: bare, ANTHROPIC_AUTH_TOKEN: 't' })).out, 'I have looked.\n');
  server.interrupt();
  assert.equal((await server.ended).code, 0);
});

test('the demo runs offline, says so, and leaves a workspace to explore', async (t) => {
  const { guild, list } = place(t);
  const ran = succeeds(await guild('demo', '--dir', 'day'));
  assert.match(ran.err, /played offline on a scripted model/);
  assert.ok(list('day/sessions').length > 0 && list('day/tasks/completed').length > 0);
  assert.deepEqual(list('day/tasks/failed'), []);
});

test('an agent that could not do it ends the run with exit code 1 and its own words', async (t) => {
  const here = place(
    t,
    scripted('- {agent: boss, call: [{final_report: {report: There is no key., success: false}}]}\n', {
      'agents/boss.md': '---\ndescription: Ends\ntools: [final_report]\n---\nYou end.\n',
    }),
  );
  const ran = await here.guild('run', 'boss', 'Open the door', '--id', 'door');
  assert.equal(ran.code, 1);
  assert.match(ran.out + ran.err, /boss could not do it: There is no key/);
  assert.deepEqual([here.list('tasks/failed'), here.list('tasks/completed')], [['door.json'], []]);
});

test('the search for a workspace ends at a folder that cannot be looked at', (t) => {
  const { root } = place(t);
  const loop = path.join(root, 'loop');
  fs.symlinkSync('loop', loop);
  assert.equal(findRoot(undefined, { cwd: loop, env: {} }), loop);
  assert.equal(findRoot('w', { cwd: loop, env: {} }), path.join(loop, 'w'));
});

test('the words of two turns are two lines, and a failed run says how to use its model again', async (t) => {
  const { guild } = place(
    t,
    scripted('- {turn: 1, say: First.}\n- {turn: 2, say: Second.}\n', {
      'agents/hand.md': '---\ndescription: Helps\ntools: [final_report]\n---\nYou help.\n',
    }),
  );
  const { out, err, code } = await guild('run', 'hand', '--id', 'h', '--model', 'pretend/y', 'Help');
  assert.deepEqual([out, code], ['First.\nSecond.\n', 1]);
  assert.match(err, /guild run -c h --model pretend\/y "Go on"/);
});

test('without a terminal, a request is listed with the way to answer it, and the hint keeps the command', async (t) => {
  const { guild } = place(
    t,
    scripted('- {turn: 1, call: [{execute_command: {command: "touch x"}}]}\n', {
      'agents/hand.md': '---\ndescription: Helps\ntools: [execute_command]\n---\nYou help.\n',
    }),
  );
  assert.equal((await guild('run', 'hand', '--id', 'h', 'Help')).code, 4);
  const listed = await guild('inbox');
  assert.match(listed.err, /answer at a terminal with guild inbox, or with guild approve/);
  const id = /^(h\.call-\w+)/.exec(listed.out)![1]!;
  assert.match((await guild('approve', id)).err, new RegExp(`then: guild approve ${id} --seen \\w{64}`));
  assert.match((await guild('approve', '--all-like', id)).err, new RegExp(`guild approve --all-like ${id} --seen`));
  assert.match((await guild('edit', id, 'touch y')).err, new RegExp(`guild edit ${id} <new text> --seen`));
});

test('a second init of a trusted workspace does not ask for trust again', async (t) => {
  const { guild, guildWith, put } = place(t);
  succeeds(await guild('init', 'w'));
  assert.doesNotMatch(succeeds(await guild('init', 'w')).err, /guild trust/);
  put('theirs/guild.yaml', 'providers: { p: { base_url: "https://p.example/v1" } }\n');
  assert.match(
    succeeds(await guildWith({ untrusted: true }, 'init', 'theirs')).err,
    /guild trust shows which of them can act/,
  );
});
