/** `guild mcp list`: the servers of a workspace with their tools. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { packageFolder } from '../../src/adapters/starter/package-folder.js';
import { place, succeeds, type Ran } from '../kit/guild.js';

const SERVER = path.join(packageFolder('test'), 'kit', 'mcp-server.mjs');

function settings(...more: string[]): string {
  const command = JSON.stringify([process.execPath, SERVER, ...more]);
  return `model: demo/x\nplugins: { mcp: { servers: { lab: { command: ${command} } } } }\n`;
}

async function listed(t: Parameters<typeof place>[0], ...more: string[]): Promise<Ran> {
  const workspace = place(t);
  workspace.put('guild.yaml', settings(...more));
  // A separate process, which ends only when it has closed every server.
  return workspace.spawn('mcp', 'list').ended;
}

test('each server is listed with its tools, and those that agents do not get are marked', async (t) => {
  const ran = await listed(t);
  succeeds(ran);
  assert.match(ran.out, /^lab .*: 10 tools\n {2}find\n/);
  assert.match(ran.out, /\n {2}background \(not for agents: it only runs as a background task of the server\)\n/);
});

test('it ends after a server that only knows the protocol without a handshake', { timeout: 60_000 }, async (t) => {
  const ran = await listed(t, '--modern');
  succeeds(ran);
  assert.match(ran.out, /^lab .* tools\n {2}find\n/);
});

test('a server that does not start is a problem in its own words', async (t) => {
  const { code, out } = await listed(t, '--broken');
  assert.equal(code, 1);
  assert.match(out, /LAB_KEY is missing/);
});

test('a server without a definition is reported with its place, and the others are listed', async (t) => {
  const workspace = place(t);
  const command = JSON.stringify([process.execPath, SERVER]);
  workspace.put(
    'guild.yaml',
    `model: demo/x\nplugins:\n  mcp:\n    servers:\n      gone: true\n      lab: { command: ${command} }\n`,
  );
  workspace.put('.mcp.json', '{');
  const { code, out } = await workspace.spawn('mcp', 'list').ended;
  assert.equal(code, 1);
  assert.match(out, /^gone: the server gone needs either .*\(guild\.yaml:5:7\)$/m);
  assert.match(out, /^lab .*: 10 tools\n {2}find\n/m);
  assert.match(out, /^\.mcp\.json: \.mcp\.json is not valid JSON/m);
});
