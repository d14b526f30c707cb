/** `guild log`, `undo` and `fork` as a person meets them: real git, a scripted model. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

const SCRIPT = `
- agent: planner
  when: again
  say: The word is moss.
- agent: planner
  turn: 1
  call: [{ delegate_to_agent: { agent: writer, task: Find a word } }]
- agent: planner
  say: The word is lichen.
- agent: writer
  say: lichen
`;

interface Office extends Place {
  git(...args: string[]): string;
  has(file: string): boolean;
}

function office(t: TestContext, config = ''): Office {
  const workspace = place(t, {
    'guild.yaml': `model: demo/story\nproviders:\n  demo: { kind: scripted, script: script.yaml }\n${config}`,
    'script.yaml': SCRIPT,
    'agents/planner.md': '---\ndescription: Plans\ntools: [delegate_to_agent]\nagents: [writer]\n---\nYou plan.\n',
    'agents/writer.md': '---\ndescription: Writes\n---\nYou write.\n',
    'tasks/pending/word.json': '{"description": "Find a word", "to": "planner"}',
  });
  return {
    ...workspace,
    git: (...args) =>
      execFileSync('git', ['--git-dir=.guild/history.git', ...args], { cwd: workspace.root, encoding: 'utf8' }).trim(),
    has: (file) => fs.existsSync(path.join(workspace.root, file)),
  };
}

test('each command leaves a commit that names task, agent and cause', async (t) => {
  const { guild, git } = office(t);
  assert.equal((await guild('pump')).code, 0);
  assert.equal(git('log', '-1', '--format=%s'), 'word: planner waits; 2 tasks moved');
  assert.match(git('log', '-1', '--format=%b'), /^word\.call-\w+ @writer task\.created, because of word$/m);
  await guild('pump', '--all');
  const asked = await guild('log');
  assert.equal(asked.code, 0, asked.err);
  const lines = asked.out.trim().split('\n');
  assert.match(lines[0]!, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d [0-9a-f]{10} word: planner answered/);
  assert.ok(lines.length >= 2);
  const json = JSON.parse((await guild('log', '--json', '--limit', '1', '--task', 'word')).out) as {
    subject: string;
    body: string;
  }[];
  assert.equal(json.length, 1);
  assert.match(json[0]!.body, /word @planner task\.completed/);
  assert.deepEqual(JSON.parse((await guild('log', '--json', '--task', 'wor')).out), []);
  const commits = git('rev-list', '--count', 'HEAD');
  await guild('pump');
  assert.equal(git('rev-list', '--count', 'HEAD'), commits, 'a command that changed nothing leaves none');
  assert.equal((await guild('log', '--limit', 'many')).code, 2);
});

test('undo previews, then restores, and work continues from the restored files', async (t) => {
  const { guild, has, root, git } = office(t);
  await guild('pump');
  const first = JSON.parse((await guild('log', '--json')).out)[0].id as string;
  await guild('pump', '--all');
  assert.ok(has('results/word.md'));
  const shown = await guild('undo', first);
  assert.equal(shown.code, 4, shown.err);
  assert.match(shown.out, /taken away +results\/word\.md/);
  assert.ok(has('results/word.md'), 'nothing was done yet');
  const undone = await guild('undo', first, '--yes');
  assert.equal(undone.code, 0, undone.err);
  assert.deepEqual(
    [has('results/word.md'), has('tasks/completed/word.json'), has('tasks/waiting/word.json')],
    [false, false, true],
  );
  assert.match(git('log', '-1', '--format=%s'), /^undo: back to/);
  for (const name of fs.readdirSync(path.join(root, 'tasks', 'active'))) assert.match(name, /-undone\.json$/);
  await guild('pump', '--all');
  assert.match(fs.readFileSync(path.join(root, 'results/word.md'), 'utf8'), /lichen/);
  assert.match(
    fs.readFileSync(path.join(root, 'events', fs.readdirSync(path.join(root, 'events'))[0]!), 'utf8'),
    /workspace\.undone/,
  );
  for (const odd of ['nonsense', 'HEAD~9999', 'HEAD:guild.yaml', 'HEAD@{1}', 'main'])
    assert.equal((await guild('undo', odd)).code, 1, odd);
  assert.match((await guild('undo', 'HEAD~1')).out, new RegExp(`^back to ${git('rev-parse', 'HEAD~1').slice(0, 10)} `));
  assert.equal((await guild('undo')).code, 2);
});

test('undo refuses while another process is working', async (t) => {
  const { guild, spawn, root, has } = office(t);
  await guild('pump', '--all');
  const first = (JSON.parse((await guild('log', '--json')).out) as { id: string }[]).at(-1)!.id;
  fs.writeFileSync(path.join(root, 'memory.md'), 'new');
  fs.writeFileSync(path.join(root, 'tasks/pending/other.json'), '{"description": "Find a word", "to": "writer"}');
  const watcher = spawn('watch');
  await until(() => has('tasks/completed/other.json'));
  const refused = await guild('undo', first, '--yes');
  assert.equal(refused.code, 4);
  assert.match(refused.err, new RegExp(`process ${watcher.child.pid} is at work`));
  assert.ok(has('tasks/completed/other.json'));
  watcher.interrupt();
  await watcher.ended;
  assert.equal((await guild('undo', first, '--yes')).code, 0);
  assert.equal(has('tasks/completed/other.json'), false);
});

test('git: false keeps no history, and log says so', async (t) => {
  const { guild, has } = office(t, 'git: false\n');
  await guild('pump', '--all');
  assert.deepEqual([has('.git'), has('.guild/history.git'), has('.guild/history')], [false, false, false]);
  const log = await guild('log');
  assert.deepEqual([log.code, log.out], [0, '']);
  assert.match(log.err, /no history is kept here: guild\.yaml/);
  assert.equal((await guild('undo', 'abcdef')).code, 1);
  assert.match((await guild('doctor')).out, /history +not kept/);
});

test('git: {branch: true} commits to the branch that is checked out', async (t) => {
  const { guild, has, root } = office(t, 'git: { branch: true }\n');
  await guild('pump', '--all');
  assert.deepEqual([has('.git'), has('.guild/history.git')], [true, false]);
  const person = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  assert.match(person('log', '-1', '--format=%s'), /^word: planner answered/);
  assert.ok(person('ls-files').split('\n').includes('tasks/completed/word.json'));
  assert.equal(person('status', '--porcelain', '--', 'tasks', 'sessions', 'results', 'agents', 'guild.yaml'), '');
  assert.match((await guild('log')).out, /word: planner answered/);
});

test('a fork continues differently from a complete turn, and its copied start costs nothing', async (t) => {
  const { guild, root, has } = office(t);
  await guild('pump', '--all');
  const session = 'planner-word';
  const cut = await guild('fork', session, '--at', '2', '--id', 'moss', 'And again, another one.');
  assert.equal(cut.code, 0, cut.err);
  assert.equal(cut.out, 'moss\n');
  assert.match(cut.err, /cut after message 3/);
  const text = fs.readFileSync(path.join(root, 'sessions/planner-moss.session.yaml'), 'utf8');
  assert.match(text, /^forked_from: ['"]?planner-word@3/m);
  assert.doesNotMatch(text, /usage:/);
  await guild('pump', '--all');
  const task = JSON.parse(fs.readFileSync(path.join(root, 'tasks/completed/moss.json'), 'utf8'));
  assert.equal(task.result, 'The word is moss.');
  assert.equal(task.context.forked_from.at, 3);
  assert.equal(task.usage.turns, 1, 'copied turns are not its own');
  assert.equal(fs.readdirSync(path.join(root, 'tasks/completed')).length, 3, 'the writer was not asked again');
  const byTask = succeeds(await guild('fork', 'word', 'A third one.', '--json'));
  assert.match(byTask.out, /"kept":\d/, 'the task names its conversation');
  assert.equal((await guild('fork', session)).code, 2, 'an answer needs something said after it');
  assert.equal((await guild('fork', session, '--at', '99', 'x')).code, 2);
  assert.equal((await guild('fork', 'planner-wrod', 'x')).code, 1);
  assert.equal((await guild('fork', session, '--to', 'nobody', 'x')).code, 1);
  assert.equal((await guild('fork', session, '--id', 'word', 'x')).code, 1);
  assert.equal(has('sessions/planner-word.session.yaml'), true);
});

test('why shows who asked, the steps and the cost', async (t) => {
  const { guild } = office(t);
  await guild('pump', '--all');
  const explained = await guild('why', 'word');
  assert.equal(explained.code, 0, explained.err);
  const lines = explained.out.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''));
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
  const steps = [
    /^you asked for it/,
    /^turn 1: 1 tool call/,
    /^  asked writer: word\.call-/,
    /^waits for word\.call-/,
    /^  writer answered: /,
    /^turn 2: an answer/,
    /^completed/,
    /^cost, with everything under it: 3 turns/,
  ];
  const places = steps.map(at);
  assert.ok(
    places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1]!)),
    `${places.join(' ')}\n${explained.out}`,
  );
  const { story, origin } = JSON.parse((await guild('why', 'word', '--json')).out) as {
    story: unknown[];
    origin: string[];
  };
  assert.ok(story.length >= 6);
  assert.match(origin[1]!, /^word @planner: Find a word/);
});

test('a fork inside a pattern does not ask advisors and members again, and later stages follow', async (t) => {
  const { root, guild } = office(t);
  fs.rmSync(path.join(root, 'tasks/pending/word.json'));
  const write = (file: string, text: string): void => fs.writeFileSync(path.join(root, file), text);
  write(
    'agents/head.md',
    '---\ndescription: Leads\nadvisors: [legal]\nteam: {members: [ann], maxRounds: 1}\n---\nLead.\n',
  );
  write('agents/author.md', '---\ndescription: Writes\nadvisors: [legal]\nhandoff: writer\n---\nWrite.\n');
  for (const name of ['legal', 'ann']) write(`agents/${name}.md`, '---\ndescription: x\n---\nx\n');
  write(
    'script.yaml',
    '- {agent: [head, author], when: shorter, say: "Short, says {{agent}}."}\n- {say: "Long, says {{agent}}."}\n',
  );
  const asked = (): string[] =>
    fs
      .readdirSync(path.join(root, 'events'))
      .flatMap((day) =>
        fs
          .readFileSync(path.join(root, 'events', day), 'utf8')
          .trim()
          .split('\n'),
      )
      .map((line) => JSON.parse(line) as { name: string; agent: string })
      .flatMap(({ name, agent }) => (name === 'model.answered' ? agent : []));
  for (const [agent, again] of [
    ['head', ['head']],
    ['author', ['author', 'writer']],
  ] as const) {
    assert.equal((await guild('run', agent, 'Tell it', '--id', agent)).code, 0);
    const before = asked().length;
    assert.equal((await guild('fork', `${agent}-${agent}.work`, '--id', `${agent}-2`, 'Make it shorter.')).code, 0);
    assert.equal((await guild('pump', '--all')).code, 0);
    assert.deepEqual(asked().slice(before), again);
    const task = JSON.parse((await guild('task', 'show', `${agent}-2.work`, '--json')).out) as { result: string };
    assert.equal(task.result, `Short, says ${agent}.`);
    const talk = fs.readFileSync(path.join(root, `sessions/${agent}-${agent}-2.session.yaml`), 'utf8');
    assert.equal(talk.match(/Make it shorter/g)!.length, 1, 'it is said once');
  }
});
