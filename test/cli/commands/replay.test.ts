/** `guild record` and `guild replay` as a person meets them: the office story, a delegation, other prompts, wrong words. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, ROOT, scripted, succeeds, type Place } from '../../kit/guild.js';

const SCRIPT = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: look}}]}
- {agent: hand, turn: 1, call: [{list_directory: {path: .}}]}
- {agent: hand, turn: 2, say: Two agents.}
- {agent: boss, turn: 2, say: There are two.}
`;
const BOSS =
  '---\ndescription: Does it\ntools: [read_file, delegate_to_agent]\nagents: [hand]\n---\nYou are the boss.\n';

/** Whoever opens a connection ends the process. */
const NO_NETWORK = `data:text/javascript,${encodeURIComponent(
  "import net from 'node:net'; net.Socket.prototype.connect = () => { console.error('CONNECTED'); process.exit(99); }; globalThis.fetch = net.Socket.prototype.connect;",
)}`;

test('the office story, with its commands and both answers of the human, is played twice to the same bytes', async (t) => {
  const here = place(t);
  const recorded = succeeds(await here.guild('record', 'office.jsonl', '--', 'demo', '--yes', '--dir', 'office'));
  const calls = /passes, (\d+) model calls/.exec(recorded.err)?.[1];
  assert.ok(Number(calls) > 10, recorded.err);
  assert.match(recorded.err, /replayed without a model, with the same \d+ files/);
  const offline = { node: ['--import', NO_NETWORK] };
  const first = succeeds(await here.spawnWith(offline, 'replay', 'office.jsonl', '--dir', 'first').ended);
  assert.match(first.out, new RegExp(`^same: \\d+ files, ${calls} model calls, none of them repeated`, 'm'));
  succeeds(await here.spawnWith(offline, 'replay', 'office.jsonl', '--dir', 'second', '--quiet').ended);
  for (const folder of ['tasks', 'sessions', 'results', 'events', 'inbox', 'storage', 'memory', '.guild/run']) {
    assert.deepEqual(bytes(here, `first/${folder}`), bytes(here, `office/${folder}`));
    assert.deepEqual(bytes(here, `second/${folder}`), bytes(here, `first/${folder}`));
  }
  assert.ok(
    here.list('first/inbox').includes('slack-outbox.jsonl'),
    'what an action wrote is there, though none was run',
  );
});

test('the example that composes every pattern is played again with no network, no script and no key', async (t) => {
  const here = place(t);
  fs.cpSync(path.join(ROOT, 'examples/composed'), path.join(here.root, 'all'), { recursive: true });
  succeeds(await here.guild('record', 'all.jsonl', '--workspace', 'all', 'pump', '--all'));
  here.put('none.yaml', '[]');
  const offline = { node: ['--import', NO_NETWORK] };
  const again = await here.spawnWith(
    offline,
    'replay',
    'all.jsonl',
    '--with',
    'script.yaml=none.yaml',
    '--dir',
    'again',
  ).ended;
  assert.match(succeeds(again).out, /^same: /m);
  for (const folder of ['tasks', 'sessions', 'results', 'events'])
    assert.deepEqual(bytes(here, `again/${folder}`), bytes(here, `all/${folder}`));
});

test('another prompt in the office: the first question that differs, its agent and its turn', async (t) => {
  const here = place(t);
  succeeds(await here.guild('record', 'office.jsonl', '--no-check', 'demo', '--yes', '--dir', 'office'));
  const agent = here.read('office/agents/evaluator.md');
  here.put('kinder.md', `${agent}\nBe kind.\n`);
  const ran = await here.guild('replay', 'office.jsonl', '--with', 'agents/evaluator.md=kinder.md');
  assert.equal(ran.code, 1);
  assert.match(
    ran.out,
    /evaluator \(task \S+, turn 1\) sends a different request than recorded: the system prompt differs/,
  );
  assert.match(ran.out, /^\+ Be kind\.$/m);
  assert.match(ran.err, /[5-9] model calls before it were the same/);
  const json = await here.guild('replay', 'office.jsonl', '--with', 'agents/evaluator.md=kinder.md', '--json');
  const said = JSON.parse(json.out) as { same: boolean; difference: { agent: string; turn: number; what: string } };
  assert.equal(json.code, 1);
  assert.deepEqual(
    [said.same, said.difference.agent, said.difference.turn, said.difference.what],
    [false, 'evaluator', 1, 'system prompt'],
  );
});

test('a run with a delegation is recorded as it is typed, and goes on live from where it differs', async (t) => {
  const here = place(t, scripted(SCRIPT, { 'agents/boss.md': BOSS }));
  const ran = succeeds(await here.guild('record', 'kept/run.jsonl', 'run', 'boss', 'How many?', '--id', 'count'));
  assert.match(ran.out, /There are two\./);
  assert.match(here.read('results/count.md'), /There are two\./);
  assert.equal(JSON.parse(succeeds(await here.guild('replay', 'kept/run.jsonl', '--json')).out).same, true);
  here.put('other/agents/boss.md', BOSS);
  here.put('other/agents/hand.md', '---\ndescription: Helps\ntools: [list_directory]\n---\nYou are a quick hand.\n');
  const other = await here.guild('replay', 'kept/run.jsonl', '--workspace', 'other');
  assert.equal(other.code, 1);
  assert.match(other.out, /^hand \(task count\.call-\w+, turn 1\)/m);
  const live = succeeds(
    await here.guild('replay', 'kept/run.jsonl', '--workspace', 'other', '--continue-live', '--dir', 'live'),
  );
  assert.match(live.err, /1 model call before it was the same\nit continued with 3 real calls/);
  assert.match(here.read('live/results/count.md'), /There are two\./);
});

test('a watch is recorded with the answer a person gave meanwhile, until it is stopped', async (t) => {
  const here = place(
    t,
    scripted(
      `
- {agent: boss, turn: 1, call: [{write_file: {path: page.txt, content: public}}]}
- {agent: boss, turn: 2, say: It is out.}
`,
      { 'agents/boss.md': '---\ndescription: Does it\ntools: [write_file]\n---\nYou are the boss.\n' },
    ),
  );
  const watching = here.start('record', 'watch.jsonl', 'watch');
  await watching.says(/watching/);
  succeeds(await here.guild('task', 'add', 'Publish it', '--to', 'boss', '--id', 'page'));
  const asked = await watching.says(/\+ human (\S+)[\s\S]*boss waits/);
  const refused = await here.guild('record', 'second.jsonl', 'pump');
  assert.equal(refused.code, 3);
  assert.match(refused.err, /another process \(pid \d+\) works in this workspace/);
  // In a process of its own: an answer in the middle of a pass could not be recorded.
  succeeds(await here.spawn('approve', asked).ended);
  await watching.says(/✓ boss/);
  watching.interrupt();
  const ended = succeeds(await watching.ended);
  assert.match(ended.err, /replayed without a model, with the same/);
  assert.equal(here.read('page.txt'), 'public');
  succeeds(await here.guild('replay', 'watch.jsonl', '--dir', 'again'));
  assert.equal(here.read('again/page.txt'), 'public');
});

test('what cannot be recorded or replayed is told in one problem', async (t) => {
  const here = place(t, scripted(SCRIPT));
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
  for (const [words, code, says] of cases) {
    const ran = await here.guild(...words);
    assert.equal(ran.code, code, `guild ${words.join(' ')}: ${ran.err}`);
    assert.match(ran.err, says);
    assert.equal(ran.err.split('problem:').length, 2, 'one problem');
  }
  assert.equal(fs.existsSync(path.join(here.root, 'a.jsonl')), false, 'nothing was recorded');
});

function bytes(here: Place, folder: string): Record<string, string> {
  const root = path.join(here.root, folder);
  return Object.fromEntries(
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(root, file), fs.readFileSync(file).toString('base64')]),
  );
}
