/**
 * Settings of guild.yaml that tighten a gate: a pull that removes one is asked about like one that
 * adds a right. So is history on the branch, from where a push publishes it.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { place, scripted, succeeds, type Place, type Ran } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

const MESSAGE = '{"id": "m1", "from": "mallory", "text": "hello from outside"}\n';
const base = scripted('- {agent: boss, say: done}\n');
const yaml = base['guild.yaml']!;
const asStranger = (home: Place, ...args: string[]): Promise<Ran> => home.guildWith({ untrusted: true }, ...args);

/** The titles of everything that ended or is open. */
async function tasks(home: Place): Promise<string> {
  return (await asStranger(home, 'task', 'list', '--all')).out;
}

test('a pull that admits messages by itself does so only after it is trusted', async (t) => {
  const home = place(t, { ...base, 'guild.yaml': `${yaml}inbox: {admit: ask}\n` });
  succeeds(await asStranger(home, 'trust', '--json'));
  home.put('guild.yaml', yaml);
  home.put('inbox/slack-messages.jsonl', MESSAGE);
  const pump = await asStranger(home, 'pump');
  assert.match(pump.err, /settings that tighten a gate\n\s+- inbox: \{admit: ask\}: no agent gets a message/);
  assert.match(home.read('tasks/approvals.task.md'), /hello from outside/);
  assert.doesNotMatch(await tasks(home), /done/);
  const { digest } = JSON.parse((await asStranger(home, 'trust', '--json')).out) as { digest: string };
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  home.put('inbox/other-messages.jsonl', MESSAGE.replace('hello', 'welcome'));
  succeeds(await asStranger(home, 'pump'));
  assert.match(home.list('tasks/completed').join(' '), /other|m1|task_/);
});

test('a setting that tightens a gate counts at once and needs no question, but its removal does', async (t) => {
  const home = place(t, base);
  succeeds(await asStranger(home, 'pump'));
  home.put('guild.yaml', `${yaml}inbox: {admit: ask}\nsandbox: required\n`);
  assert.doesNotMatch((await asStranger(home, 'pump')).err, /trust/);
  home.put('guild.yaml', yaml);
  assert.match((await asStranger(home, 'pump')).err, /- sandbox: required[^]*- inbox: \{admit: ask\}/);
  home.put('guild.yaml', `${yaml}inbox: {admit: ask}\nsandbox: required\n`);
  assert.doesNotMatch((await asStranger(home, 'pump')).err, /trust/);
});

test('a running watch does not admit messages after a pull, until it is trusted', async (t) => {
  const home = place(t, { ...base, 'guild.yaml': `${yaml}inbox: {admit: ask}\n` });
  succeeds(await asStranger(home, 'trust', '--json'));
  const watch = home.spawnWith({ untrusted: true }, 'watch');
  await until(() => home.list('agents/live').length > 0);
  home.put('guild.yaml', yaml);
  await watch.says(/warning: guild\.yaml changed: inbox\.admit waits for guild trust\n/);
  home.put('inbox/slack-messages.jsonl', MESSAGE);
  await until(() => home.list('tasks').includes('approvals.task.md'));
  const { digest } = JSON.parse((await asStranger(home, 'trust', '--json')).out) as { digest: string };
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  await watch.says(/guild\.yaml changed: inbox is in effect\n/);
  home.put('inbox/other-messages.jsonl', MESSAGE.replace('hello', 'welcome'));
  await until(() => home.list('results').length > 0);
  watch.interrupt();
  assert.equal((await watch.ended).code, 0);
});

test('history goes to the branch of a folder only after a person has seen that', async (t) => {
  const home = place(t, { ...base, 'guild.yaml': `${yaml}git: {branch: true}\n` });
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: home.root, encoding: 'utf8' });
  git('init', '-q');
  git('add', 'guild.yaml');
  git('commit', '-qm', 'first');
  const pump = await asStranger(home, 'run', 'boss', 'hello');
  assert.match(pump.err, /settings that loosen a gate[^]*git: \{branch: true\}: commits conversations/);
  assert.equal(git('log', '--format=%s'), 'first\n');
  const { digest } = JSON.parse((await asStranger(home, 'trust', '--json')).out) as { digest: string };
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  succeeds(await asStranger(home, 'run', 'boss', 'hello'));
  assert.notEqual(git('log', '--format=%s'), 'first\n');
});
