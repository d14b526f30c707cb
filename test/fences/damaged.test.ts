/** Damaged files that used to be taken for good ones (R12, R14 to R18, R22). */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadPolicy, ALLOWLIST_FILE, POLICY_FILE } from '../../src/adapters/policy-files/index.js';
import { roster } from '../../src/adapters/roster/index.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import { parseTask } from '../../src/text/records/task.js';
import { loadYaml, wholeFile } from '../../src/text/yaml/parse.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { place, scripted } from '../kit/guild.js';
import { simDisk } from '../kit/sim-disk.js';
import { writeStory } from '../kit/stories.js';
import { until } from '../kit/until.js';

test('R15: an empty agent file is not an agent, in any format', async (t) => {
  const home = place(t, scripted('- {say: done}'));
  for (const file of ['agents/zero.md', 'agents/one/agent.md', 'templates/two.agent.yaml', 'agents/three.ai'])
    home.put(file, file.includes('one') ? '\n' : '');
  const { out, err } = await home.guild('check');
  for (const file of ['agents/zero.md', 'agents/one/agent.md', 'templates/two.agent.yaml', 'agents/three.ai'])
    assert.ok((out + err).includes(`${file} is empty, so it does not define an agent`), `${file}: ${err}`);
  const ran = await home.guild('run', 'zero', 'hello');
  assert.notEqual(ran.code, 0);
});

test('R15: a file that is emptied or half saved leaves the last version in use until it is whole', async (t) => {
  const home = place(t, { 'agents/ana.md': '---\ndescription: A\n---\nFirst.\n' });
  const agents = roster(realDisk(), home.root);
  agents.refresh();
  const prompt = (): string | undefined => agents.all().get('ana')?.systemPrompt.trim();
  fs.truncateSync(path.join(home.root, 'agents/ana.md'));
  assert.equal(agents.refresh()[0]?.where?.file, 'agents/ana.md');
  assert.equal(prompt(), 'First.');
  home.put('agents/ana.md', '---\ndescription: A\n---\nSecond, but on');
  agents.refresh();
  assert.equal(prompt(), 'First.', 'no newline at its end, a moment ago: it is being saved');
  home.put('agents/new.md', '---\ndescription: N\n---\nHal');
  agents.refresh();
  assert.equal(agents.all().has('new'), false);
  home.put('agents/new.md', '---\ndescription: N\n---\nHalf is not enough.\n');
  agents.refresh();
  assert.equal(agents.all().get('new')?.systemPrompt.trim(), 'Half is not enough.');
  await until(() => {
    agents.refresh();
    return prompt() === 'Second, but on';
  });
});

for (const file of [ALLOWLIST_FILE, POLICY_FILE])
  test(`R16: an empty ${file} closes the gate, and a missing one has the defaults`, (t) => {
    const home = place(t, { 'guild.yaml': '' });
    assert.equal(loadPolicy(home.root).policy.closed, undefined);
    for (const text of ['', '\n', ' \r\n']) {
      home.put(file, text);
      const { policy, problems } = loadPolicy(home.root);
      assert.match(policy.closed ?? '', /nothing runs without approval/, JSON.stringify(text));
      assert.equal(problems[0]?.where?.file, file);
    }
    home.put(file, '# no rules\n');
    assert.equal(loadPolicy(home.root).policy.closed, undefined, 'a comment says that none are wanted');
  });

test('R17: a check-in in the future counts as now, with a note', async () => {
  const disk = simDisk();
  const agent = '---\ndescription: A\n---\nDo it.\n';
  writeStory(disk, {
    name: '',
    agents: { planner: agent, ana: agent },
    tasks: {},
    files: { 'storage/planner-checkin.yaml': 'last_checkin: "2199-01-01T00:00:00.000Z"\ninterval_seconds: 60\n' },
    script: '- {say: done}',
    results: {},
    calls: 0,
  });
  const said: string[] = [];
  const proc = cluster('- {say: done}').start(disk, {
    watchers: { problem: ({ message }) => void said.push(message) },
  });
  for (let times = 0; times < 3; times++) await untilQuiet(proc);
  assert.deepEqual(said, [
    'storage/planner-checkin.yaml: last_checkin was in the future (2199-01-01T00:00:00.000Z), so it counts as now',
  ]);
  const text = disk.tree().get(path.join(ROOT, 'storage/planner-checkin.yaml'))!;
  assert.ok(!/last_checkin: "?2199/.test(text), text);
  assert.match(text, /last_reason: "last_checkin was in the future/);
});

test('R18: NUL bytes, foreign bytes and UTF-16 in a task are reported with their place', () => {
  const where = (bytes: Buffer): unknown[] => {
    const parsed = parseTask(bytes, { file: 't.json', name: 't', now: '' });
    assert.equal(parsed.kind, 'quarantine');
    const { line, column } = parsed.kind === 'quarantine' ? parsed.problem.where! : { line: 0, column: 0 };
    return [line, column];
  };
  assert.deepEqual(where(Buffer.from('{\n "description": "a\0b"}')), [2, 19]);
  assert.deepEqual(where(Buffer.from('{\n "description": "caf\xe9"}', 'latin1')), [2, 21]);
  assert.deepEqual(where(Buffer.from('\ufeff{"description": "a"}', 'utf16le')), [1, 1]);
});

test('R18: a second YAML document is reported with its line', () => {
  for (const [text, line] of [
    ['a: 1\n---\nb: 2\n', 2],
    ['---\na: 1\n---\nb: 2\n', 3],
    ['# hello\n\n---\na: 1\n\n--- # next\nb: 2\n', 6],
  ] as const) {
    const loaded = loadYaml(wholeFile('x.yaml', text));
    assert.ok(!loaded.ok);
    assert.equal(loaded.problem.where?.line, line, text);
  }
});

test('R14: a dependency that does not exist is named once by pump, and by check', async (t) => {
  const home = place(
    t,
    scripted('- {say: done}', {
      'tasks/plan.task.md': '## TODO\n- [ ] @boss "Later"\n  id: later\n  depends_on: ghost\n',
      'tasks/pending/t.json': '{"description": "T", "to": "boss", "dependencies": ["nowhere", "u"]}',
      'tasks/pending/u.json': '{"description": "U", "to": "boss"}',
    }),
  );
  const pumped = await home.guild('pump', '--all');
  for (const line of ['later waits for ghost, which does not exist', 't waits for nowhere, which does not exist'])
    assert.equal(pumped.err.split(line).length, 2, pumped.err);
  assert.ok(!pumped.err.includes('waits for u,'), pumped.err);
  const checked = await home.guild('check');
  assert.equal(checked.code, 1);
  assert.match(checked.err, /later waits for ghost, which does not exist/);
  assert.match(checked.err, /t waits for nowhere, which does not exist/);
  const watching = home.start('watch');
  await watching.says(/t waits for nowhere, which does not exist/);
  home.put('tasks/pending/nowhere.json', '{"description": "Here I am", "to": "boss"}');
  await until(() => home.list('tasks/completed').includes('t.json'));
  watching.interrupt();
  const { err } = await watching.ended;
  assert.equal(err.split('t waits for nowhere').length, 2, err);
});

test('R22: a held file has one event, however many processes see it', async (t) => {
  const home = place(t, scripted('- {say: done}', { 'tasks/pending/torn.json': '{"description": "Ha' }));
  const held = (): number =>
    home
      .list('events')
      .map((file) => home.read(`events/${file}`).split('"file.held"').length - 1)
      .reduce((sum, n) => sum + n, 0);
  for (let times = 0; times < 3; times++) {
    const { err } = await home.guild('pump');
    assert.match(err, /tasks\/pending\/torn\.json/, 'each process tells its person');
  }
  assert.equal(held(), 1);
  home.put('tasks/pending/torn.json', '{"description": "Half');
  await home.guild('pump');
  assert.equal(held(), 2, 'another content is news');
});

const BIG = '9007199254740993';

test('R12: whole numbers above 2^53 in a person’s fields survive the whole life of a task', async (t) => {
  const home = place(
    t,
    scripted('- {say: done}', {
      'tasks/pending/t.json': `{"description": "T", "to": "boss", "ticket": ${BIG}, "more": {"list": [{"n": -${BIG}}]}, "context": {"order": {"id": ${BIG}}}}`,
      'tasks/plan.task.md': `## TODO\n- [ ] @boss "Line"\n  id: line\n  ticket: ${BIG}\n`,
    }),
  );
  await home.guild('pump', '--all');
  const record = home.read('tasks/completed/t.json');
  for (const text of [`"ticket": ${BIG}`, `"n": -${BIG}`, `"id": ${BIG}`]) assert.ok(record.includes(text), record);
  assert.ok(home.read('tasks/plan.task.md').includes(`ticket: ${BIG}`));
});

test('R12: a conversation that is rearranged to be appended to keeps the digits of its numbers', async (t) => {
  const home = place(
    t,
    scripted('- {agent: boss, say: done}', {
      'tasks/pending/t.json': '{"description": "T", "to": "boss", "session": "talk"}',
      'sessions/talk.session.yaml': `messages: [{role: user, content: ${BIG}}, {role: assistant, content: "", tool_calls: [{id: ${BIG}, function: {name: x, arguments: {n: {m: [${BIG}]}}}}]}, {role: tool, tool_call_id: ${BIG}, content: ok}]\nagent_id: boss\ntask: t\n`,
    }),
  );
  await home.guild('pump', '--all');
  const text = home.read('sessions/talk.session.yaml');
  assert.match(text, /content: done/, text);
  assert.equal(text.split(BIG).length, 5, text);
  assert.ok(!text.includes('9007199254740992'), text);
});
