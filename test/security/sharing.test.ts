/** What a person shares or hands to an agent: exported runs and pasted files have no secrets. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pastedFiles, placed } from '../../src/cli/commands/chat/attach.js';
import { place, scripted, succeeds } from '../kit/guild.js';

const ENV = `PLAIN=plain-secret-1
COMMENTED=commented-secret-2 # for the shop
QUOTED="it's-a-quoted-secret-3"
SINGLE='a "single" secret-4'
PEM="-----BEGIN KEY-----
first-line-of-key-5
-----END KEY-----"
export ESCAPED="one\\"two-secret-6"
`;
const SECRETS = [
  'plain-secret-1',
  'commented-secret-2',
  "it's-a-quoted-secret-3",
  'a "single" secret-4',
  'first-line-of-key-5',
  'one"two-secret-6',
  'address-secret-7',
  'phrase-secret-8',
  'a%20%22single%22%20secret-4',
  'pat-secret-9',
  'webhook-secret-10',
  'dsn-secret-11',
  'pwd-secret-12',
];

test('an exported run has no value of .env or of the environment, however it is written', async (t) => {
  const said = JSON.stringify(`I found ${SECRETS.join(' and ')}.`);
  const home = place(t, {
    ...scripted(`- {turn: 1, call: [{write_file: {path: scratch/boss/x.md, content: ${said}}}]}\n- {say: ${said}}\n`),
    'agents/boss.md': '---\ndescription: Does it\ntools: [write_file]\n---\nYou are the boss.\n',
    '.env': ENV,
  });
  const env = {
    DATABASE_URL: 'postgres://shop:address-secret-7@db.example/shop',
    SIGNING_PASSPHRASE: 'phrase-secret-8',
    GITHUB_PAT: 'pat-secret-9',
    CHAT_WEBHOOK_URL: 'https://hooks.example/services/T0/webhook-secret-10',
    SENTRY_DSN: 'https://dsn-secret-11@sentry.example/1',
    DB_PWD: 'pwd-secret-12',
  };
  succeeds(await home.guildWith({ env }, 'run', 'boss', 'look', '--id', 't1'));
  for (const more of [[], ['--all']]) {
    succeeds(await home.guildWith({ env }, 'export', 't1', '--out', 'run.html', '--force', ...more));
    const html = home.read('run.html');
    assert.match(html, /I found/);
    const data = JSON.stringify(JSON.parse(/id="exported">([^]*?)<\/script>/.exec(html)![1]!));
    for (const secret of SECRETS)
      for (const text of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        JSON.stringify(JSON.stringify(secret)).slice(3, -3),
      ])
        assert.ok(!data.includes(text), text);
  }
});

test('an exported run has no value of a secret file that an agent read and repeated', async (t) => {
  const read = ['db.json', 'id_rsa', 'x.xml', 'x.csv'].map((name) => `{read_file: {path: context/secrets/${name}}}`);
  const said = JSON.stringify(
    'the password is json-secret-10, the user yaml-secret-11, the key bGluZS1vZi1hLWtleQ, others xml-secret-12, csv-secret-13',
  );
  const home = place(t, {
    ...scripted(`- {turn: 1, call: [${read.join(', ')}]}\n- {say: ${said}}\n`),
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'context/secrets/db.json': '{"password": "json-secret-10",\n"more": 1}\nuser: yaml-secret-11\n',
    'context/secrets/id_rsa': '-----BEGIN KEY-----\nbGluZS1vZi1hLWtleQ\n-----END KEY-----\n',
    'context/secrets/x.xml': '<login user="zoe"><pw>xml-secret-12</pw></login>\n',
    'context/secrets/x.csv': 'name,at,pw\nzoe,2026-11-18T16:00:00Z,csv-secret-13\n',
  });
  await home.guild('run', 'boss', 'look', '--id', 't1');
  const ballot = home.read('tasks/approvals.task.md');
  home.put('tasks/approvals.task.md', ballot.replace(/^- \[_\]/gm, '- [x]'));
  succeeds(await home.guild('pump', '--all'));
  assert.match(home.read('results/t1.md'), /json-secret-10/, 'the agent repeated it');
  for (const more of [[], ['--all']]) {
    succeeds(await home.guild('export', 't1', '--out', 'run.html', '--force', ...more));
    assert.match(home.read('run.html'), /the password is \[secret/);
    assert.doesNotMatch(home.read('run.html'), /(?:json|yaml|xml|csv)-secret-|bGluZS1vZi1hLWtleQ/);
  }
});

test('an export reads no device for its secrets, and replaces a link instead of writing through it', async (t) => {
  const home = place(t, scripted('- {say: done}'));
  const outside = place(t, { 'mine.html': 'mine' });
  succeeds(await home.guild('run', 'boss', 'look', '--id', 't1'));
  fs.symlinkSync('/dev/zero', path.join(home.root, '.env.local'));
  fs.symlinkSync(path.join(outside.root, 'mine.html'), path.join(home.root, 't1.html'));
  assert.equal((await home.guild('export', 't1')).code, 1);
  succeeds(await home.guild('export', 't1', '--force'));
  assert.equal(outside.read('mine.html'), 'mine');
  assert.match(home.read('t1.html'), /<!doctype html>/);
});

test('a pasted path of a secret, or a copy that would leave the workspace, stays a text', (t) => {
  const home = place(t, { 'memory/x.md': 'x' });
  const person = place(t, {
    'photo.png': 'x',
    '.ssh/id_rsa': 'x',
    '.config/gh/hosts.yml': 'x',
    '.aws/credentials': 'x',
    'prod.env': 'x',
  });
  const at = (file: string): string => path.join(person.root, file);
  fs.symlinkSync(at('.aws/credentials'), at('notes.txt'));
  assert.deepEqual(pastedFiles(home.root, at('photo.png')), [at('photo.png')]);
  for (const file of ['.ssh/id_rsa', '.config/gh/hosts.yml', '.aws/credentials', 'prod.env', 'notes.txt'])
    assert.equal(pastedFiles(home.root, at(file)), undefined, file);
  assert.equal(pastedFiles(home.root, `${at('photo.png')} ${at('.ssh/id_rsa')}`), undefined);
  fs.symlinkSync(person.root, path.join(home.root, 'context'));
  assert.equal(pastedFiles(home.root, at('photo.png')), undefined, 'context leads elsewhere');
});

test('the copy of a pasted file is for its user alone, whoever can read the original', (t) => {
  const home = place(t, { 'context/x.md': 'x' });
  const person = place(t, { 'photo.png': 'x' });
  const file = path.join(person.root, 'photo.png');
  fs.chmodSync(file, 0o666);
  const copy = path.join(home.root, placed(home.root, file));
  assert.equal(fs.readFileSync(copy, 'utf8'), 'x');
  assert.equal(fs.statSync(copy).mode & 0o777, 0o600);
});
