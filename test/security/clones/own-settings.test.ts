/** The user's own settings hold in every workspace, and a key goes only to its own host. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { misdirectedKey } from '../../../src/domain/config/key-hosts.js';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { catcher } from '../catcher.js';

const agent = (tools: string): string => `---\ndescription: Does things\ntools: [${tools}]\n---\nDo it.\n`;
const TASK = { 'tasks/pending/t1.json': '{"description": "do it", "to": "ana"}' };

function settings(home: Place, file: string, text: string): void {
  const folder = path.join(`${home.root}-state`, 'config');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, file), text);
}

test('a trusted workspace cannot send a well-known key elsewhere; a line of the user can', async (t) => {
  const { host, heard } = await catcher(t);
  const home = place(t, {
    ...TASK,
    'guild.yaml': `model: openai/x\ntimeouts: {tries: 1}\nproviders:\n  openai: {kind: openai, base_url: "http://${host}/v1", key_env: OPENAI_API_KEY}\n`,
    'agents/ana.md': agent('read_file'),
  });
  const env = { env: { OPENAI_API_KEY: 'canary' } };
  const pump = await home.guildWith(env, 'pump');
  assert.match(
    pump.err,
    new RegExp(`would send OPENAI_API_KEY to ${host}[^]*keys: \\{OPENAI_API_KEY: \\[${host}\\]\\}`),
  );
  assert.deepEqual(heard, []);
  settings(home, 'settings.yaml', `keys: {OPENAI_API_KEY: ["${host}"]}\n`);
  await home.guildWith(env, 'pump');
  assert.deepEqual(heard.slice(0, 1), ['Bearer canary']);
});

test('a key belongs to its host, its subdomains only where that is said', () => {
  const to = (keyEnv: string, baseUrl: string) =>
    misdirectedKey({ kind: 'openai-compatible', keyEnv, baseUrl }, { OPENAI_API_KEY: ['gateway.example'] })?.host;
  assert.equal(to('OPENAI_API_KEY', 'https://api.openai.com/v1'), undefined);
  assert.equal(to('OPENAI_API_KEY', 'https://gateway.example:8443/v1'), undefined);
  assert.equal(to('OPENAI_API_KEY', 'https://api.openai.com.evil.example/v1'), 'api.openai.com.evil.example');
  assert.equal(to('OPENAI_API_KEY', 'https://api.openai.com@evil.example/v1'), 'evil.example');
  assert.equal(to('OPENAI_API_KEY', 'http://gateway.example/v1'), undefined, 'the user knows the way there');
  assert.equal(to('OPENAI_API_KEY', 'http://api.openai.com/v1'), 'api.openai.com', 'anybody on the way would read it');
  assert.equal(to('AWS_SECRET_ACCESS_KEY', 'https://bedrock.eu-west-1.amazonaws.com'), undefined);
  for (const rented of ['x.execute-api.eu-west-1.amazonaws.com', 'bedrock.x.execute-api.amazonaws.com'])
    assert.equal(to('AWS_SECRET_ACCESS_KEY', `https://${rented}`), rented);
  assert.equal(to('AZURE_API_KEY', 'https://team.openai.azure.com/openai'), undefined);
  assert.equal(to('AZURE_API_KEY', 'https://team.westeurope.cloudapp.azure.com'), 'team.westeurope.cloudapp.azure.com');
  assert.equal(to('GOOGLE_VERTEX_API_KEY', 'https://europe-west4-aiplatform.googleapis.com/v1'), undefined);
  assert.equal(to('GOOGLE_VERTEX_API_KEY', 'https://storage.googleapis.com/x'), 'storage.googleapis.com');
  assert.equal(to('AWS_SECRET_ACCESS_KEY', 'https://evilamazonaws.com'), 'evilamazonaws.com');
  assert.equal(to('CORP_KEY', 'https://models.corp.example'), undefined, 'a key of its own is shown by guild trust');
});

test('credentials of the environment belong to their hosts, whatever key a provider names', () => {
  for (const keyEnv of [undefined, 'CORP_KEY'])
    for (const [kind, key, own] of [
      ['bedrock', 'AWS', 'https://bedrock-runtime.eu-west-1.amazonaws.com'],
      ['vertex', 'GOOGLE_VERTEX', 'https://aiplatform.googleapis.com/v1'],
    ] as const) {
      const to = (baseUrl: string) => misdirectedKey({ kind, baseUrl, ...(keyEnv ? { keyEnv } : {}) }, {});
      assert.ok(to('https://evil.example')?.key.startsWith(key), kind);
      assert.equal(to(own), undefined, kind);
    }
});

test('a rule of the user holds, however much the workspace allows', async (t) => {
  const rule = (supervision: string, priority: number): string =>
    `own:\n  r: { pattern: execute_command, conditions: [{ command_starts_with: [ls] }], supervision: ${supervision}, priority: ${priority} }\n`;
  const home = place(t, {
    ...scripted(
      '- {agent: ana, turn: 1, call: [{execute_command: {command: "ls"}}]}\n- {agent: ana, say: "{{last}}"}',
      TASK,
    ),
    'agents/ana.md': agent('execute_command'),
    'storage/policy.yaml': rule('automatic', 1000),
  });
  settings(home, 'policy.yaml', rule('deny', 1));
  succeeds(await home.guild('pump', '--all'));
  assert.match(home.read('tasks/completed/t1.json'), /not_allowed/);
});

test('a plugin that the user does not list does not run, and broken settings open nothing', async (t) => {
  const home = place(t, {
    ...scripted('- {say: done}', TASK),
    'guild.yaml': 'model: s/x\nproviders:\n  s: {kind: scripted, script: script.yaml}\nplugins: [own]\n',
    'agents/ana.md': agent('read_file'),
    'plugins/own/index.mjs': "throw new Error('it ran')",
  });
  settings(home, 'settings.yaml', 'plugins: [slack]\n');
  const pump = succeeds(await home.guild('pump'));
  assert.match(pump.err, /your own settings do not let the plugin own run/);
  assert.doesNotMatch(pump.err, /it ran/);
  settings(home, 'settings.yaml', 'plugins: [slack\n');
  assert.equal((await home.guild('pump')).code, 1);
});

test('answers are signed with the key of GUILD_KEY_FILE; without that key they are asked again', async (t) => {
  const home = place(t, {
    ...scripted(
      '- {agent: ana, turn: 1, call: [{write_file: {path: made.txt, content: x}}]}\n- {agent: ana, say: done}',
    ),
    ...TASK,
    'agents/ana.md': agent('write_file'),
  });
  const env = { GUILD_KEY_FILE: path.join(`${home.root}-state`, 'keys', 'own') };
  const isMade = (): boolean => fs.existsSync(path.join(home.root, 'made.txt'));
  const waiting = async (): Promise<{ id: string; seen: string }> =>
    (JSON.parse((await home.guildWith({ env }, 'approve', '--json')).out) as [{ id: string; seen: string }])[0];
  await home.guildWith({ env }, 'pump');
  assert.equal(fs.statSync(env.GUILD_KEY_FILE).mode & 0o777, 0o600);
  const first = await waiting();
  succeeds(await home.guildWith({ env }, 'approve', first.id, '--seen', first.seen));
  await home.guild('pump', '--all');
  assert.ok(!isMade(), 'another key signs nothing for this one');
  await home.guildWith({ env }, 'pump', '--all');
  const again = await waiting();
  succeeds(await home.guildWith({ env }, 'approve', again.id, '--seen', again.seen));
  succeeds(await home.guildWith({ env }, 'pump', '--all'));
  assert.ok(isMade());
});
