/**
 * Entry points besides `pump` and `run`: eval, MCP, the model server, settings that a pull brings.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds, type Given, type Place, type Ran } from '../../kit/guild.js';
import { catcher } from '../catcher.js';

const KEYS = { OPENAI_API_KEY: 'canary-openai', CORP_KEY: 'canary-corp' };
const SCRIPTED = 'model: s/x\nproviders:\n  s: {kind: scripted, script: script.yaml}\ndefault_agent: ana\n';
const agent = (tools: string): string => `---\ndescription: Does things\ntools: [${tools}]\n---\nDo it.\n`;
const asStranger = (home: Place, ...args: string[]): Promise<Ran> =>
  home.guildWith({ untrusted: true, env: KEYS } satisfies Given, ...args);

test('a file of an eval case is written only into the copy of the workspace', async (t) => {
  const home = place(t, { ...scripted('- {say: done}'), 'guild.yaml': SCRIPTED, 'agents/ana.md': agent('read_file') });
  const outside = place(t);
  fs.symlinkSync(outside.root, path.join(home.root, 'memory'));
  for (const file of [`../../../../../../..${outside.root}/canary`, `${outside.root}/canary`, 'memory/canary']) {
    home.put('evals/x.yaml', JSON.stringify([{ task: 'go', files: { [file]: 'x' }, expect: { state: 'completed' } }]));
    const ran = await home.guild('eval');
    assert.notEqual(ran.code, 0, file);
    assert.match(ran.out + ran.err, /is not a path in the workspace/, file);
    assert.deepEqual(outside.list('.'), [], file);
  }
  home.put('evals/x.yaml', '- {task: go, expect: {result: "/^(a+)+$/"}}\n');
  assert.match((await home.guild('eval')).err, /is refused: a repetition inside a repetition/);
});

test('guild eval --record sends no key to a provider that is not trusted', async (t) => {
  const { host, heard } = await catcher(t);
  const home = place(t, {
    'guild.yaml': `model: corp/x\nproviders:\n  corp: {base_url: "http://${host}/v1", key_env: CORP_KEY}\ntimeouts: {tries: 1}\n`,
    'agents/ana.md': agent('read_file'),
    'evals/x.yaml': '- {task: go, to: ana, expect: {state: completed}}\n',
  });
  assert.notEqual((await asStranger(home, 'eval', '--record', 'tape')).code, 0);
  assert.deepEqual(heard, []);
});

test('guild eval writes and reads no recording through a link', async (t) => {
  const home = place(t, { ...scripted('- {say: done}'), 'guild.yaml': SCRIPTED, 'agents/ana.md': agent('read_file') });
  home.put('evals/x.yaml', '- {task: go, to: ana, expect: {result: done}}\n');
  const outside = place(t, { 'diary.txt': 'dear diary\n' });
  const tape = path.join(home.root, 'tape/evals-x-yaml-1-1.jsonl');
  fs.mkdirSync(path.dirname(tape));
  fs.symlinkSync(path.join(outside.root, 'diary.txt'), tape);
  const replayed = await home.guild('eval', '--replay', 'tape');
  assert.match(replayed.out + replayed.err, /there is no recording/);
  succeeds(await home.guild('eval', '--record', 'tape'));
  assert.equal(outside.read('diary.txt'), 'dear diary\n');
  assert.match(home.read('tape/evals-x-yaml-1-1.jsonl'), /"done"/);
  succeeds(await home.guild('eval', '--replay', 'tape'));
});

test('guild mcp starts no server of a stranger', async (t) => {
  const home = place(t, { ...scripted('- {say: done}'), 'agents/ana.md': agent('read_file') });
  const canary = path.join(home.root, 'canary');
  const command = JSON.stringify(['sh', '-c', `env > ${canary}`]);
  home.put('guild.yaml', `${SCRIPTED}plugins: {mcp: {servers: {x: {command: ${command}, env: [CORP_KEY]}}}}\n`);
  for (const args of [['list'], ['login', 'x']]) {
    const ran = await asStranger(home, 'mcp', ...args);
    assert.notEqual(ran.code, 0);
    assert.match(ran.err, /not trusted yet[^]*guild trust/);
  }
  assert.ok(!fs.existsSync(canary));
});

test('a server of .mcp.json is trusted as it was seen, not as the file is later', async (t) => {
  const home = place(t, { ...scripted('- {say: done}'), 'agents/ana.md': agent('read_file') });
  const canary = (name: string): string => path.join(home.root, name);
  const server = (name: string): string =>
    JSON.stringify({ mcpServers: { x: { command: 'sh', args: ['-c', `env > ${canary(name)}`] } } });
  home.put('guild.yaml', `${SCRIPTED}plugins: {mcp: {servers: {x: true}}}\n`);
  home.put('.mcp.json', server('seen'));
  const shown = await asStranger(home, 'pump');
  assert.match(shown.err, /plugin mcp[^]*"command": "sh"/);
  const { digest } = JSON.parse((await asStranger(home, 'trust', '--json')).out) as { digest: string };
  home.put('.mcp.json', server('swapped'));
  assert.equal((await asStranger(home, 'trust', '--digest', digest)).code, 3, 'another digest by now');
  home.put('.mcp.json', server('seen'));
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  home.put('.mcp.json', server('swapped'));
  await asStranger(home, 'mcp', 'list');
  const pump = await asStranger(home, 'pump');
  assert.match(pump.err, /the parts that you trusted stay in force[^]*\+ .*swapped/);
  assert.ok(fs.existsSync(canary('seen')), 'what was trusted still starts');
  assert.ok(!fs.existsSync(canary('swapped')));
});

test('a store of a stranger is not opened, and its address is part of what is trusted', async (t) => {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const home = place(t, {
    ...scripted('- {say: done}'),
    'guild.yaml': `${SCRIPTED}store: "postgres://me@127.0.0.1:${port}/team"\n`,
  });
  for (const args of [['pump'], ['task', 'list'], ['run', 'boss', 'hello']]) {
    const ran = await asStranger(home, ...args);
    assert.notEqual(ran.code, 0, args[0]);
    assert.match(ran.err, /the store .* is not trusted yet/, args[0]);
  }
  assert.equal(connections, 0);
  const { digest } = JSON.parse((await asStranger(home, 'trust', '--json')).out) as { digest: string };
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  const trusted = await home.spawnWith({ untrusted: true, env: KEYS }, 'task', 'list').ended;
  assert.ok(connections > 0, `a person can say yes: ${trusted.err}`);
});

test('settings that loosen a gate count as far as a person has seen them', async (t) => {
  const home = place(t, {
    ...scripted(
      '- {agent: ana, turn: 1, call: [{execute_command: {command: "touch memory/x"}}]}\n- {agent: ana, say: done}',
      { 'tasks/pending/t1.json': '{"description": "do it", "to": "ana"}' },
    ),
    'guild.yaml': SCRIPTED,
    'agents/ana.md': agent('execute_command'),
  });
  succeeds(await home.guild('trust', '--json'));
  home.put('guild.yaml', `${SCRIPTED}sandbox: off\nallow_outward: [web_search]\n`);
  const pump = await asStranger(home, 'pump');
  assert.match(pump.err, /settings that loosen a gate[^]*sandbox: off[^]*allow_outward: web_search/);
  assert.doesNotMatch(home.read('tasks/approvals.task.md'), /guild\.yaml turns it off/);
  fs.rmSync(home.root, { recursive: true });
  const other = place(t, { ...scripted('- {say: done}'), 'guild.yaml': `${SCRIPTED}sandbox: off\n` });
  assert.match((await asStranger(other, 'pump')).err, /not trusted yet[^]*sandbox: off/);
});

/** Raw HTTP: fetch does not let a caller choose Host and Origin. */
function ask(port: number, headers: Record<string, string>, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, method: 'POST', path: '/v1/chat/completions', headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject).end(body);
  });
}

test('Low: the model server answers only this machine, and its errors name no path', async (t) => {
  const { root, put, spawn } = place(t, { 'guild.yaml': 'git: {enabled: false}\n' });
  put('script.yaml', '- {agent: nobody, say: x}\n');
  const served = spawn('model-server', '--script', 'script.yaml', '--port', '0');
  const server = { port: Number(await served.says(/127\.0\.0\.1:(\d+)/)) };
  const json = { 'content-type': 'application/json' };
  const chat = JSON.stringify({ model: 'a/b', messages: [{ role: 'user', content: 'hello' }] });
  const local = `127.0.0.1:${server.port}`;
  assert.equal((await ask(server.port, { ...json, host: `evil.example:${server.port}` }, chat)).status, 421);
  assert.equal((await ask(server.port, { ...json, host: local, origin: 'http://evil.example' }, chat)).status, 403);
  assert.equal((await ask(server.port, { 'content-type': 'text/plain', host: local }, chat)).status, 415);
  const calls = JSON.stringify({ model: 'a/b', messages: [{ role: 'assistant', tool_calls: [{}] }] });
  assert.equal((await ask(server.port, { ...json, host: local }, calls)).status, 400);
  for (const host of [local, `localhost:${server.port}`, `[::1]:${server.port}`]) {
    const { status, text } = await ask(server.port, { ...json, host }, chat);
    assert.equal(status, 422, 'the script has no line for it');
    assert.match(text, /script\.yaml/);
    assert.ok(!text.includes(root), text);
  }
});

test('Low: an expression of a script that would run for ever fails its call within seconds', async (t) => {
  const home = place(t, {
    ...scripted(`- {when: {any: "/^(a+)+$/"}, say: never}\n- {say: done}`),
    'agents/boss.md': agent('read_file'),
  });
  const before = performance.now();
  const ran = await home.guild('run', 'boss', `${'a'.repeat(60)}!`);
  assert.ok(performance.now() - before < 60_000);
  assert.notEqual(ran.code, 0);
  assert.match(ran.out + ran.err, /takes too long on a text/);
});

test('a script is not read outside of the workspace, nor from a secret: a problem would quote it', async (t) => {
  const outside = place(t, { 'diary.txt': 'private words' });
  const home = place(t, {
    ...scripted('- {say: done}'),
    'agents/boss.md': agent('read_file'),
    '.env': 'private words',
    '.guild/private/x': 'private words',
  });
  fs.symlinkSync(outside.root, path.join(home.root, 'linked'));
  const settings = home.read('guild.yaml');
  for (const script of [path.join(outside.root, 'diary.txt'), 'linked/diary.txt', '.env', '.guild/private/x']) {
    home.put('guild.yaml', settings.replace(/script: [^,}\n]+/, `script: ${script}`));
    const ran = await home.guildWith({ untrusted: true }, 'run', 'boss', 'look');
    assert.notEqual(ran.code, 0, script);
    assert.match(ran.err, /the script .* of provider pretend is missing, or agents may not read it/, script);
    const records = ['events', 'tasks/failed', 'results', 'bus'].flatMap((folder) =>
      home.list(folder).map((name) => home.read(`${folder}/${name}`)),
    );
    home.put('evals/a.yaml', '- {task: look, to: boss, expect: {result: done}}\n');
    const evaluated = await home.guildWith({ untrusted: true }, 'eval', '--record', 'kept');
    assert.match(evaluated.out + evaluated.err, /the script .* is missing, or agents may not read it/, script);
    const texts = [ran.out, ran.err, evaluated.out, evaluated.err, ...records];
    for (const text of texts) assert.doesNotMatch(text, /private words/, script);
  }
});
