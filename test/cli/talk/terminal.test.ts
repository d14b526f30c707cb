/** `guild run` and `guild inbox` on a real terminal: they ask, guard keys, and survive kill -9. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { KEYS, pty, settled, SIZES } from '../../kit/pty.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/talk/terminal', 4);

function office(): Record<string, string> {
  return {
    ...scripted(`
- agent: ana
  turn: 1
  when: /release/
  call: [{ask_human: {question: "Which version is it?", choices: ["1.0", "1.1"], default: "1.0"}}]
- {agent: ana, turn: 2, call: [{execute_command: {command: "touch a; echo tagged"}}]}
- {agent: ana, turn: 3, when: /refused/, say: "Refused: {{last}}"}
- {agent: ana, turn: 3, say: "It is out."}
- {agent: ana, turn: 1, when: /wait/, wait: 30m, say: late}
- {agent: ana, say: "You said {{last}}"}
`),
    'agents/ana.md': '---\ndescription: Releases\ntools: [ask_human, execute_command]\n---\nDo it.\n',
  };
}

const small = SIZES[2]!;
const completed = (workspace: Place): string[] =>
  workspace.list('tasks/completed').filter((name) => !/call-/.test(name));

for (const size of SIZES)
  test(`run asks a question and an approval and continues, at ${size.columns} by ${size.rows}`, async (t) => {
    const workspace = place(t, office());
    const run = pty(t, workspace.root, size, 'run', 'ana', 'make a release');
    await run.says(/asks you/);
    await run.says(/Task: make a release/);
    await run.says(/> 1 1\.0/);
    run.type(KEYS.down);
    await run.says(/> 2 1\.1/);
    await settled();
    run.type(KEYS.enter);
    await run.says(/needs your approval/);
    await run.says(/\? details/);
    await settled();
    run.type('y');
    await run.says(/It is out\./);
    assert.equal(await run.ended, 0);
    for (const line of run.text().split('\n')) assert.ok(line.length <= size.columns, line);
    assert.equal(completed(workspace).length, 1);
  });

for (const size of SIZES)
  test(`the inbox answers, refuses, skips and carries on, at ${size.columns} by ${size.rows}`, async (t) => {
    const workspace = place(t, office());
    for (const id of ['r1', 'r2'])
      succeeds(await workspace.guild('task', 'add', `make a release of ${id}`, '--to', 'ana', '--id', id));
    succeeds(await workspace.guild('pump', '--quiet'));
    const inbox = pty(t, workspace.root, size, 'inbox');
    await inbox.says(/\(1 of 2\) asks you/);
    await inbox.says(/> 1 1\.0/);
    await settled();
    inbox.type(KEYS.enter);
    await inbox.says(/\(2 of 2\) asks you/);
    await inbox.says(/> 1 1\.0/);
    inbox.type(KEYS.escape);
    await inbox.says(/carrying on here/);
    await inbox.says(/needs your approval/);
    await inbox.says(/\? details/);
    await settled();
    inbox.type('n');
    await inbox.says(/Why not\?/);
    inbox.type(`too early${KEYS.enter}`);
    await inbox.says(/Refused: /);
    assert.equal(await inbox.ended, 4, 'what was skipped still waits');
    assert.deepEqual(completed(workspace), ['r1.json']);
    for (const line of inbox.text().split('\n')) assert.ok(line.length <= size.columns, line);
  });

test('pump removes its progress rows before its last line', async (t) => {
  const workspace = place(t, { ...office(), ...scripted('- {agent: ana, wait: 500ms, say: done}') });
  succeeds(await workspace.guild('task', 'add', 'say done', '--to', 'ana', '--id', 'slow'));
  const pump = pty(t, workspace.root, small, 'pump', '--all');
  await pump.says(/ana say done · /);
  assert.equal(await pump.ended, 0);
  assert.doesNotMatch(pump.raw().split('1 step advanced')[1] ?? '', /say done/);
});

test('answer and approve carry the work on if no other process does', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('task', 'add', 'make a release', '--to', 'ana', '--id', 'r1'));
  succeeds(await workspace.guild('pump', '--quiet'));
  const waiting = async (): Promise<string> => {
    const [request] = JSON.parse((await workspace.guild('approve', '--json')).out) as { id: string }[];
    return request!.id;
  };
  const answer = pty(t, workspace.root, small, 'answer', await waiting(), '1.0');
  await answer.says(/carrying on here/);
  await answer.ended;
  const approve = pty(t, workspace.root, small, 'approve', await waiting());
  await approve.says(/Allow this\?/);
  approve.type(`y${KEYS.enter}`);
  await approve.says(/carrying on here/);
  assert.equal(await approve.ended, 0);
  assert.deepEqual(completed(workspace), ['r1.json']);
});

test('keys that were typed or pasted before a request is drawn do not answer it', async (t) => {
  const workspace = place(t, office());
  const run = pty(t, workspace.root, small, 'run', 'ana', 'make a release');
  await run.says(/> 1 1\.0/);
  await settled();
  // Enter answers the question; the other keys come before the approval is drawn.
  run.type(`${KEYS.enter}yyyy${KEYS.enter}${KEYS.paste('y\n')}`);
  await run.says(/\? details/);
  await settled();
  assert.equal(completed(workspace).length, 0);
  run.type('n');
  await run.says(/Why not\?/);
  run.type(`not today${KEYS.enter}`);
  await run.says(/Refused: /);
  assert.equal(await run.ended, 0);
  assert.match(workspace.read('tasks/approvals.task.md'), /reason: not today/);
});

test('a key right after a request is drawn does not answer it: it may be meant for the one before', async (t) => {
  const isIgnored = async (): Promise<boolean> => {
    const workspace = place(t, office());
    const run = pty(t, workspace.root, small, 'run', 'ana', 'make a release');
    await run.says(/> 1 1\.0/);
    await settled();
    run.type(KEYS.enter);
    await run.says(/\? details/);
    run.type('y');
    await settled();
    run.type('n');
    await run.says(/Why not\?|It is out\./);
    return !run.text().includes('It is out.');
  };
  // On a busy machine the key may come half a second later, and then it counts.
  for (let attempts = 0; attempts < 8; attempts++) if (await isIgnored()) return;
  assert.fail('it was answered each time');
});

test('a killed run leaves its question, the inbox answers it, and the work continues there', async (t) => {
  const workspace = place(t, office());
  const run = pty(t, workspace.root, small, 'run', 'ana', 'make a release');
  await run.says(/> 1 1\.0/);
  run.kill();
  await run.ended;
  const inbox = pty(t, workspace.root, SIZES[0]!, 'inbox');
  await inbox.says(/> 1 1\.0/);
  await settled();
  inbox.type(KEYS.enter);
  await inbox.says(/carrying on here/);
  await inbox.says(/\? details/);
  inbox.kill();
  await inbox.ended;
  const again = pty(t, workspace.root, SIZES[1]!, 'approve');
  await again.says(/\? details/);
  await settled();
  again.type('y');
  await again.says(/It is out\./);
  assert.equal(await again.ended, 0);
});

test('of two terminals that ask the same, the second notices the answer of the first', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('task', 'add', 'make a release', '--to', 'ana'));
  succeeds(await workspace.guild('pump', '--quiet'));
  const first = pty(t, workspace.root, small, 'inbox');
  const second = pty(t, workspace.root, small, 'inbox');
  await first.says(/> 1 1\.0/);
  await second.says(/> 1 1\.0/);
  await settled();
  first.type(KEYS.enter);
  await second.says(/it was answered elsewhere/);
  await first.says(/\? details/);
  first.type(KEYS.ctrlC);
  second.type(KEYS.ctrlC);
  assert.equal(await first.ended, 4);
  await second.ended;
});

test('Ctrl-C keeps the task paused until it is continued, or cancels it', async (t) => {
  const workspace = place(t, office());
  const run = pty(t, workspace.root, small, 'run', 'ana', 'wait for it', '--id', 'slow');
  await run.says(/thinking/);
  run.type(KEYS.ctrlC);
  await run.says(/k keeps the task/);
  run.type('k');
  assert.equal(await run.ended, 130);
  assert.deepEqual(workspace.list('storage/paused'), ['task.slow']);
  assert.match((await workspace.guild('pump', '--json')).out, /"advanced":0/);
  assert.match((await workspace.guild('why', 'slow')).out, /paused/);
  const again = pty(t, workspace.root, small, 'run', '-c');
  await again.says(/thinking/);
  again.type(KEYS.ctrlC);
  await again.says(/k keeps the task/);
  again.type('c');
  assert.equal(await again.ended, 130);
  await until(() => workspace.list('tasks/failed').includes('slow.json'));
  assert.ok(!fs.existsSync(path.join(workspace.root, 'storage/paused/task.slow')));
});

test('a conversation continues with run --continue and with a message to the ended task', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('run', 'ana', 'hello', '--id', 'h1'));
  const { out } = succeeds(await workspace.guild('run', '-c', 'and', 'now'));
  assert.equal(out, 'You said and now\n');
  succeeds(await workspace.guild('task', 'tell', 'h1', 'a third'));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.equal(completed(workspace).length, 3);
  assert.deepEqual(workspace.list('sessions').length, 1);
  assert.match(workspace.read('sessions/ana-h1.session.yaml'), /hello[^]*and now[^]*a third[^]*You said a third/);
  assert.match((await workspace.guild('run', '-c')).err, /say how it continues/);
});
