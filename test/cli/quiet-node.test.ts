/**
 * Users of `guild` see none of Node's own warnings (deprecated, experimental), with any supported
 * Node version. These tests run the code that loads packages or starts processes.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { place, ROOT, succeeds, type Ran } from '../kit/guild.js';

/** The beginning of a warning of Node, also from a child process. */
const WARNING = /\(node:\d+\)|\w+Warning:/;

test('Node warns of nothing while a workspace is made, looked at, and works with a model, a server and a sandbox', async (t) => {
  const server = [process.execPath, path.join(ROOT, 'test/kit/mcp-server.mjs')];
  const script = `
- {agent: boss, turn: 1, call: [{lab_find: {query: x}}, {execute_command: {command: ls}}]}
- {agent: boss, say: Found.}
`;
  const { spawn, spawnWith, put, read } = place(t, {
    'play.yaml': script,
    'agents/boss.md': '---\ndescription: Does it\ntools: [lab_find, execute_command]\n---\nYou are the boss.\n',
  });
  const plugins = JSON.stringify({ mcp: { servers: { lab: { command: server, free: ['find'] } } } });
  put('guild.yaml', `model: openai/m\nplugins: ${plugins}\n`);
  const playing = spawn('model-server', '--script', 'play.yaml', '--port', '0', '--json');
  const url = await playing.says(/"url":"(http[^"]+)"/);
  const run = await spawnWith({ env: { OPENAI_BASE_URL: url } }, 'run', 'boss', 'Look', '--id', 'look').ended;
  assert.equal(isQuiet(run).out, 'Found.\n');
  assert.match(read('sessions/boss-look.session.yaml'), /found x/);
  playing.child.kill('SIGINT');
  isQuiet(await playing.ended);
  for (const args of [
    ['--version'],
    ['check'],
    ['doctor'],
    ['query', 'SELECT id FROM tasks'],
    ['log'],
    ['why', 'look'],
  ])
    isQuiet(await spawn(...args).ended);
  isQuiet(await spawn('init', 'new').ended);
  isQuiet(await spawn('demo', '--yes', '--dir', 'day').ended);
});

function isQuiet(ran: Ran): Ran {
  assert.doesNotMatch(ran.err, WARNING);
  return succeeds(ran);
}
