/** `guild notes` and `guild tell`: posting on a channel, listing, following, and errors. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { onTerminal, place } from '../../kit/guild.js';

const FILES = {
  'guild.yaml':
    'model: demo/x\nproviders: {demo: {kind: scripted}}\ngit: false\nchannels: {news: {readers: [bob]}, ops: {writers: [ana]}}\n',
  'script.yaml': '- {agent: bob, when: lunch, say: I heard it.}\n- {say: Nothing was said.}\n',
  'agents/ana.md': '---\ndescription: d\n---\nx\n',
  'agents/bob.md': '---\ndescription: d\n---\nx\n',
};

test('a note is listed and reaches its reader', async (t) => {
  const workspace = place(t, FILES);
  assert.equal((await workspace.guild('tell', 'news', 'lunch', 'is', 'at one', '--priority', 'high')).code, 0);
  assert.match((await workspace.guild('notes', 'news')).out, /^\S+ \S+ \S+ human: high lunch is at one\n$/);
  const [note] = (await workspace.guild('notes', 'news', '--json')).out.trim().split('\n');
  const { from, priority, body } = JSON.parse(note!) as Record<string, unknown>;
  assert.deepEqual([from, priority, body], ['human', 'high', { type: 'said', text: 'lunch is at one' }]);
  assert.match((await workspace.guild('notes')).out, /news +1 note .* written by all, read by bob\n/);
  assert.match((await workspace.guild('run', 'bob', 'Anything new?')).out, /I heard it\./);
  assert.match((await workspace.guild('run', 'bob', 'Anything new?')).out, /Nothing was said\./);
});

test('a long note is wrapped between words on a narrow terminal', async (t) => {
  const workspace = place(t, FILES);
  const text = 'lunch is at one in the large room, and everybody who wants to come is welcome';
  await workspace.guild('tell', 'news', text);
  const { out } = await workspace.guildWith(onTerminal(40), 'notes', 'news');
  const lines = out
    .replaceAll(/\u001b\[[0-9;]*m/g, '')
    .trimEnd()
    .split('\n');
  assert.ok(
    lines.every((line) => line.length <= 40),
    out,
  );
  assert.match(lines.map((line) => line.trim()).join(' '), new RegExp(`human: ${text}$`));
});

test('a note written by hand counts, a bad line is reported with its place, --last shows the newest', async (t) => {
  const workspace = place(t, FILES);
  workspace.put('bus/news.jsonl', '{"text":"one"}\nwhat?\n{"text":"two"}\n');
  const ran = await workspace.guild('notes', 'news', '--last', '1');
  assert.match(ran.out, /human: two\n$/);
  assert.doesNotMatch(ran.out, /one/);
  assert.match(ran.err, /bus\/news\.jsonl:2/);
});

test('--follow shows notes of other processes until it is interrupted', async (t) => {
  const workspace = place(t, FILES);
  const following = workspace.start('notes', 'news', '--follow');
  const file = path.join(workspace.root, 'bus/news.jsonl');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.appendFileSync(file, '{"text":"hello there"}\n');
  await following.says(/hello there/);
  assert.equal((await workspace.guild('tell', 'news', 'and again')).code, 0);
  await following.says(/and again/);
  following.interrupt();
  assert.equal((await following.ended).code, 0);
});

test('unknown channels and priorities are refused, with the valid ones', async (t) => {
  const workspace = place(t, FILES);
  for (const [args, code, says] of [
    [['tell', 'nws', 'x'], 1, /no channel "nws"\n +did you mean "news"\? channels you may write to: news, ops/],
    [['tell', 'state', 'x'], 3, /only the program itself/],
    [['tell', 'team/t1', 'x'], 1, /no team/],
    [['tell', 'news'], 2, /needs a channel and a text/],
    [['tell', 'news', 'x', '--priority', 'huge'], 2, /critical, high, normal, low/],
    [['tell', 'news', 'x'.repeat(70_000)], 1, /the limit on news is 65536/],
    [['notes', 'nws'], 1, /channels: dependency, help, news, ops, state, task/],
  ] as [string[], number, RegExp][]) {
    const ran = await workspace.guild(...args);
    assert.equal(ran.code, code, args.join(' ').slice(0, 50));
    assert.match(ran.err, says);
  }
  assert.deepEqual(workspace.list('bus'), []);
});
