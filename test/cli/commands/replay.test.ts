/**
 * `guild record` and `guild replay`: the office story, a delegation, changed prompts, wrong usage.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, ROOT, scripted, succeeds, type Place } from '../../kit/guild.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/commands/replay', 4);

const SCRIPT = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: look}}]}
- {agent: hand, turn: 1, call: [{list_directory: {path: .}}]}
- {agent: hand, turn: 2, say: Two agents.}
- {agent: boss, turn: 2, say: There are two.}
`;
const BOSS =
  '---\ndescription: Does it\ntools: [read_file, delegate_to_agent]\nagents: [hand]\n---\nYou are the boss.\n';

/** Makes every network connection of this process fail and returns how many were tried. */
function withoutNetwork(t: TestContext): () => number {
  const refuse = (): never => {
    throw new Error('there is no network');
  };
  const connect = t.mock.method(net.Socket.prototype, 'connect', refuse);
  const fetch = t.mock.method(globalThis, 'fetch', refuse);
  return () => connect.mock.callCount() + fetch.mock.callCount();
}

test('the office story, with its commands and both answers of the human, is played twice to the same bytes', async (t) => {
  const workspace = place(t);
  const recorded = succeeds(await workspace.guild('record', 'office.jsonl', '--', 'demo', '--yes', '--dir', 'office'));
  const calls = /passes, (\d+) model calls/.exec(recorded.err)?.[1];
  assert.ok(Number(calls) > 10, recorded.err);
  assert.match(recorded.err, /replayed without a model, with the same \d+ files/);
  const connections = withoutNetwork(t);
  const first = succeeds(await workspace.guild('replay', 'office.jsonl', '--dir', 'first'));
  assert.match(first.out, new RegExp(`^same: \\d+ files, ${calls} model calls, none of them repeated`, 'm'));
  succeeds(await workspace.guild('replay', 'office.jsonl', '--dir', 'second', '--quiet'));
  assert.equal(connections(), 0);
  for (const folder of ['tasks', 'sessions', 'results', 'events', 'inbox', 'storage', 'memory', '.guild/run']) {
    assert.deepEqual(bytes(workspace, `first/${folder}`), bytes(workspace, `office/${folder}`));
    assert.deepEqual(bytes(workspace, `second/${folder}`), bytes(workspace, `first/${folder}`));
  }
  assert.ok(
    workspace.list('first/inbox').includes('slack-outbox.jsonl'),
    'what an action wrote is there, though none was run',
  );
});

test('the figures of the machine come from the recording', async (t) => {
  const workspace = place(t, {
    ...scripted('- {turn: 1, call: [{system_status: {}}]}\n- {turn: 2, say: "I saw {{last}}"}\n'),
    'agents/ana.md': '---\ndescription: Watches\ntools: [system_status]\n---\nYou are ana.\n',
  });
  succeeds(await workspace.guild('record', 'kept/look.jsonl', 'run', 'ana', 'Look'));
  assert.match(workspace.read('kept/look.jsonl'), /"asked":"system_status \{\}"/);
  assert.match(succeeds(await workspace.guild('replay', 'kept/look.jsonl')).out, /^same: /);
});

test('the example that composes every pattern is played again with no network, no script and no key', async (t) => {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples/composed'), path.join(workspace.root, 'all'), { recursive: true });
  succeeds(await workspace.guild('record', 'all.jsonl', '--workspace', 'all', 'pump', '--all'));
  workspace.put('none.yaml', '[]');
  const connections = withoutNetwork(t);
  const again = await workspace.guild('replay', 'all.jsonl', '--with', 'script.yaml=none.yaml', '--dir', 'again');
  assert.match(succeeds(again).out, /^same: /m);
  assert.equal(connections(), 0);
  for (const folder of ['tasks', 'sessions', 'results', 'events'])
    assert.deepEqual(bytes(workspace, `again/${folder}`), bytes(workspace, `all/${folder}`));
});

test('with another prompt, replay names the first differing request, its agent and its turn', async (t) => {
  const workspace = place(t);
  succeeds(await workspace.guild('record', 'office.jsonl', '--no-check', 'demo', '--yes', '--dir', 'office'));
  const agent = workspace.read('office/agents/evaluator.md');
  workspace.put('kinder.md', `${agent}\nBe kind.\n`);
  const ran = await workspace.guild('replay', 'office.jsonl', '--with', 'agents/evaluator.md=kinder.md');
  assert.equal(ran.code, 1);
  assert.match(
    ran.out,
    /evaluator \(task \S+, turn 1\) sends a different request than recorded: the system prompt differs/,
  );
  assert.match(ran.out, /^\+ Be kind\.$/m);
  assert.match(ran.err, /[5-9] model calls before it were the same/);
  const json = await workspace.guild('replay', 'office.jsonl', '--with', 'agents/evaluator.md=kinder.md', '--json');
  const report = JSON.parse(json.out) as { same: boolean; difference: { agent: string; turn: number; what: string } };
  assert.equal(json.code, 1);
  assert.deepEqual(
    [report.same, report.difference.agent, report.difference.turn, report.difference.what],
    [false, 'evaluator', 1, 'system prompt'],
  );
});

test('a run with a delegation is recorded as typed, and replay continues live from the difference', async (t) => {
  const workspace = place(t, scripted(SCRIPT, { 'agents/boss.md': BOSS }));
  const ran = succeeds(await workspace.guild('record', 'kept/run.jsonl', 'run', 'boss', 'How many?', '--id', 'count'));
  assert.match(ran.out, /There are two\./);
  assert.match(workspace.read('results/count.md'), /There are two\./);
  assert.equal(JSON.parse(succeeds(await workspace.guild('replay', 'kept/run.jsonl', '--json')).out).same, true);
  workspace.put('other/agents/boss.md', BOSS);
  workspace.put(
    'other/agents/hand.md',
    '---\ndescription: Helps\ntools: [list_directory]\n---\nYou are a quick hand.\n',
  );
  const other = await workspace.guild('replay', 'kept/run.jsonl', '--workspace', 'other');
  assert.equal(other.code, 1);
  assert.match(other.out, /^hand \(task count\.call-\w+, turn 1\)/m);
  const live = succeeds(
    await workspace.guild('replay', 'kept/run.jsonl', '--workspace', 'other', '--continue-live', '--dir', 'live'),
  );
  assert.match(live.err, /1 model call before it was the same\nit continued with 3 real calls/);
  assert.match(workspace.read('live/results/count.md'), /There are two\./);
});

test('a replay that continues live trusts no rule: a command that ran by itself asks', async (t) => {
  const boss = (prompt: string): string => `---\ndescription: Does it\ntools: [execute_command]\n---\n${prompt}\n`;
  const script =
    '- {turn: 1, call: [{execute_command: {command: "touch workspaces/boss/made"}}]}\n- {turn: 2, say: Made.}\n';
  const rules = `'/^touch workspaces\\/boss\\/made$/': {approve: true, matchCommandLine: true}\n`;
  const workspace = place(
    t,
    scripted(script, {
      'agents/boss.md': boss('You are the boss.'),
      'storage/terminal-cmd-allowlist.yaml': rules,
    }),
  );
  succeeds(await workspace.guild('record', 'run.jsonl', 'run', 'boss', 'Make it', '--id', 'make'));
  const isMade = (root: string): boolean => fs.existsSync(path.join(workspace.root, root, 'workspaces/boss/made'));
  assert.ok(isMade('.'), 'the rule held for the recording');
  workspace.put('other/agents/boss.md', boss('You are quick.'));
  const given = ['--workspace', 'other', '--continue-live', '--dir', 'live'];
  await workspace.guild('replay', 'run.jsonl', ...given);
  assert.ok(!isMade('live'));
  assert.match(workspace.read('live/tasks/approvals.task.md'), /a replay that continues live is not trusted/);
});

test('a watch is recorded with the answer a person gave meanwhile, until it is stopped', async (t) => {
  const workspace = place(
    t,
    scripted(
      `
- {agent: boss, turn: 1, call: [{write_file: {path: page.txt, content: public}}]}
- {agent: boss, turn: 2, say: It is out.}
`,
      { 'agents/boss.md': '---\ndescription: Does it\ntools: [write_file]\n---\nYou are the boss.\n' },
    ),
  );
  const watching = workspace.start('record', 'watch.jsonl', 'watch');
  await watching.says(/watching/);
  succeeds(await workspace.guild('task', 'add', 'Publish it', '--to', 'boss', '--id', 'page'));
  const asked = await watching.says(/\+ human .*?(\S+) waits for you[\s\S]*boss waits/);
  const refused = await workspace.guild('record', 'second.jsonl', 'pump');
  assert.equal(refused.code, 3);
  assert.match(refused.err, /another process \(pid \d+\) works in this workspace/);
  // In a separate process: an answer in the middle of a pass could not be recorded.
  const [{ seen }] = JSON.parse((await workspace.guild('approve', '--json')).out) as [{ seen: string }];
  succeeds(await workspace.spawn('approve', asked, '--seen', seen).ended);
  await watching.says(/✓ boss/);
  watching.interrupt();
  const ended = succeeds(await watching.ended);
  assert.match(ended.err, /replayed without a model, with the same/);
  assert.equal(workspace.read('page.txt'), 'public');
  succeeds(await workspace.guild('replay', 'watch.jsonl', '--dir', 'again'));
  assert.equal(workspace.read('again/page.txt'), 'public');
});

test('an impossible recording or replay is refused with one problem', async (t) => {
  const workspace = place(t, scripted(SCRIPT));
  const cases: [string[], number, RegExp][] = [
    [['record'], 2, /needs a cassette and a command/],
    [['record', 'a.jsonl'], 2, /needs a cassette and a command/],
    [['record', 'a.jsonl', 'undo'], 2, /guild undo cannot be recorded\n.*run, pump, watch, demo/],
    [['record', 'a.jsonl', 'run', 'nobody', 'x'], 1, /there is no agent nobody/],
    [['record', 'agents/boss.md', 'pump'], 1, /already exists/],
    [['replay'], 2, /needs a cassette/],
    [['replay', 'none.jsonl'], 1, /there is no cassette \S*\/none\.jsonl/],
    [['replay', 'agents/boss.md'], 1, /is not a cassette/],
    [['replay', 'x', '--with', 'nothing'], 2, /--with takes FILE=PATH/],
  ];
  for (const [command, code, says] of cases) {
    const ran = await workspace.guild(...command);
    assert.equal(ran.code, code, `guild ${command.join(' ')}: ${ran.err}`);
    assert.match(ran.err, says);
    assert.equal(ran.err.split('problem:').length, 2, 'one problem');
  }
  assert.equal(fs.existsSync(path.join(workspace.root, 'a.jsonl')), false, 'nothing was recorded');
});

function bytes(workspace: Place, folder: string): Record<string, string> {
  const root = path.join(workspace.root, folder);
  return Object.fromEntries(
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(root, file), fs.readFileSync(file).toString('base64')]),
  );
}
