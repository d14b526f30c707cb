/** An MCP server that changes its tools while an agent works. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { packageFolder } from '../../../src/adapters/starter/package-folder.js';
import { place, scripted } from '../../kit/guild.js';

const SERVER = path.join(packageFolder('test'), 'kit', 'mcp-server.mjs');
/** The server announces its new tool when it wants; until then the agent looks around. */
const SCRIPT = `
- {agent: ana, when: "You can now also call: lab_grown", call: [{lab_grown: {word: hello}}]}
- {agent: ana, turn: 1, call: [{lab_grow: {}}]}
- {agent: ana, call: [{read_file: {path: "{{turn}}.md"}}]}
`;

test('a tool that the server adds is announced in the conversation, and its call reaches the gate', async (t) => {
  const files = scripted(SCRIPT);
  const command = JSON.stringify([process.execPath, SERVER]);
  const workspace = place(t, {
    ...files,
    'guild.yaml': `${files['guild.yaml']}plugins: {mcp: {servers: {lab: {command: ${command}, free: [grow]}}}}\n`,
    'agents/ana.md': '---\ndescription: Looks\ntools: [read_file, lab_grow, lab_grown]\n---\nDo it.\n',
  });
  const { err } = await workspace.guild('run', 'ana', 'Go', '--id', 'top');
  assert.match(err, /Approve lab_grown of the plugin mcp/);
  const session = workspace.read('sessions/ana-top.session.yaml');
  assert.equal(session.split('You can now also call: lab_grown.').length - 1, 1);
  assert.match(session, /kind: tools_changed[^]*pins:/);
});
