/**
 * Nothing is hidden: failed tasks among many, unreadable files, questions to you, demo approvals.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asProblem, problemText } from '../../src/domain/problem.js';
import { place, scripted, succeeds } from '../kit/guild.js';

const ended = (id: string, more: object, at: number): [string, string] => [
  `tasks/${'error' in more ? 'failed' : 'completed'}/${id}.json`,
  JSON.stringify({ id, description: id, ended_at: new Date(at).toISOString(), ...more }),
];

test('a failed task is listed however many have ended since, and a shortened list says so', async (t) => {
  const done = Array.from({ length: 60 }, (_, i) => ended(`t${i}`, { result: 'x' }, 2e12 + i));
  const failed = ended('broken', { error: { code: 'bug', message: 'no' } }, 1e12);
  const { guild } = place(t, scripted('- say: ok', Object.fromEntries([failed, ...done])));
  assert.match(succeeds(await guild('task', 'list', '--state', 'failed')).out, /^failed +broken/);
  const all = succeeds(await guild('task', 'list', '--all'));
  assert.equal(all.out.trim().split('\n').length, 50);
  assert.match(all.err, /… and more \(--limit\)/);
  const complete = succeeds(await guild('task', 'list', '--all', '--limit', '61'));
  assert.equal(complete.out.trim().split('\n').length, 61);
  assert.doesNotMatch(complete.err, /more/);
  assert.match(succeeds(await guild('task', 'list', '--state', 'waiting')).err, /^no waiting tasks$/m);
});

const NO_TORN = /there is no task torn\n {2}tasks\/pending\/torn\.json cannot be read yet/;

test('asking for a task whose file is unreadable names the file', async (t) => {
  const { guild } = place(
    t,
    scripted('- say: ok', { 'tasks/pending/torn.json': '{"description": "x"', 'tasks/pending/list.json': '[1]' }),
  );
  await guild('pump');
  for (const command of [['why'], ['graph'], ['task', 'show'], ['task', 'tree'], ['task', 'cancel']]) {
    const torn = await guild(...command, 'torn');
    assert.equal(torn.code, 1);
    // `guild why` states the reason itself.
    const expected = command[0] === 'why' ? /^problem: tasks\/pending\/torn\.json:1:20: / : NO_TORN;
    assert.match(torn.err, expected);
    assert.match((await guild(...command, 'list')).err, /quarantine\/list\.json\.why\.md says why/);
  }
  assert.match((await guild('why', '../torn')).err, /guild task list --all/);
});

test('a pump that leaves a question says what waits for you', async (t) => {
  const script = `
- {agent: hand, turn: 1, call: [{write_file: {path: note.md, content: hello}}]}
- {agent: hand, say: Written.}
`;
  const workspace = place(
    t,
    scripted(script, {
      'agents/hand.md': '---\ndescription: Helps\ntools: [write_file]\n---\nYou are the hand.\n',
      'tasks/pending/a.json': '{"description":"write","to":"hand"}',
    }),
  );
  const first = await workspace.guild('pump', '--all');
  assert.equal(first.code, 4);
  assert.match(first.err, /^1 of them waits for you: guild inbox/m);
  const report = JSON.parse(
    succeeds(await workspace.guild('pump', '--json'))
      .out.trim()
      .split('\n')
      .at(-1)!,
  ) as {
    waiting_for_you: string[];
  };
  assert.equal(report.waiting_for_you.length, 1);
  succeeds(await workspace.approve(report.waiting_for_you[0]!));
  assert.doesNotMatch(succeeds(await workspace.guild('pump', '--all')).err, /for you/);
  // A clone of the workspace has everything except the program's private files.
  fs.rmSync(path.join(workspace.root, '.guild'), { recursive: true });
  assert.match(workspace.read('tasks/approvals.task.md'), /fate: done/);
  assert.doesNotMatch(succeeds(await workspace.guild('pump')).err, /was ever asked for/);
});

test('why follows the wait that leads to you', async (t) => {
  const script = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: idler, task: later}}, {delegate_to_agent: {agent: hand, task: write}}]}
- {agent: hand, turn: 1, call: [{write_file: {path: note.md, content: hello}}]}
- {say: ok}
`;
  const workspace = place(
    t,
    scripted(script, {
      'agents/hand.md': '---\ndescription: Helps\ntools: [write_file]\n---\nYou are the hand.\n',
      'agents/idler.md': '---\ndescription: Idles\n---\nYou idle.\n',
      'storage/paused/idler': '',
      'tasks/pending/q.json': '{"description":"go","to":"boss"}',
    }),
  );
  assert.equal((await workspace.guild('pump', '--all')).code, 4);
  const { chain } = JSON.parse(succeeds(await workspace.guild('why', 'q', '--json')).out) as { chain: string[] };
  assert.match(chain[0]!, /waits for 2 tasks/);
  assert.match(chain.at(-1)!, /waits for you: guild approve/);
});

test('a demo on a real model allows nothing by silence', async (t) => {
  const { guild, read } = place(t);
  // The same script, named like a real model.
  const ran = await guild('demo', '--dir', 'day', '--model', 'demo/office');
  assert.equal(ran.code, 4, ran.err);
  assert.match(ran.err, /There is no terminal to ask at, so nothing was approved/);
  assert.match(read('day/tasks/approvals.task.md'), /- \[_\]/);
});

test('doctor names the sandbox', async (t) => {
  const { guildWith } = place(t, scripted('- say: ok'));
  const off = await guildWith({ env: { GUILD_SANDBOX: 'off' } }, 'doctor', '--json');
  const findings = JSON.parse(off.out) as { name: string; verdict: string; text: string }[];
  assert.equal(findings.find((finding) => finding.name === 'sandbox')?.verdict, 'odd');
});

test('a folder that cannot be created is a disk problem that names it once', () => {
  const failed = Object.assign(new Error('no'), { code: 'ENOENT', syscall: 'mkdir', path: '/ro/bus' });
  assert.equal(asProblem(failed).code, 'disk_failed');
  assert.equal(problemText(asProblem(failed)).match(/\/ro\/bus/g)?.length, 1);
  assert.equal(asProblem(Object.assign(new Error('no'), { code: 'ENOENT', syscall: 'spawn git' })).code, 'bug');
});
