/** Long texts and attached files can be read only where a message names them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { Conversation } from '../../src/web/base/contract.js';
import { place, type Place } from '../kit/guild.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { openWindow, SCRIPTED } from '../kit/web/window.js';

const LINES = Array.from({ length: 200 }, (_, n) => `line ${n} of the report <img src=x onerror=alert(1)>`);
const LONG = `${LINES.join('\n')}\n`;
const OTHER = 'nobody named this text\n';
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The agent reads a long file, and writes the hash of a text that it was not shown. */
async function readingPlace(t: TestContext): Promise<Place> {
  const words = `All done; the whole text is storage/blobs/${hashOf(OTHER)}`;
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}limits: { max_result_bytes: 4000 }\n`,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'agents/quiet.md': '---\ndescription: Says little\n---\nYou are quiet.\n',
    'memory/report.txt': LONG,
    [`storage/blobs/${hashOf(OTHER)}`]: OTHER,
    'script.yaml': `- {agent: quiet, say: Hello.}\n- turn: 1\n  call: [{read_file: {path: memory/report.txt}}]\n- turn: 2\n  say: ${JSON.stringify(words)}\n`,
  });
  await workspace.guild('run', 'boss', 'Read the report');
  await workspace.guild('run', 'quiet', 'Say hello');
  return workspace;
}

const sessionOf = (workspace: Place, agent: string): string =>
  workspace
    .list('sessions')
    .find((name) => name.startsWith(agent))!
    .replace('.session.yaml', '');

/** The hash that the program wrote at the cut. */
function cutIn({ messages }: Conversation): string {
  const results = messages.flatMap(({ calls }) => calls).map(({ result = '' }) => result);
  return /the whole text is storage\/blobs\/(\w{64})/.exec(results.join())![1]!;
}

/** The smallest picture. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('files that were attached are named in the conversation and at the request', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [execute_command]\n---\nYou are the boss.\n',
    'script.yaml': '- turn: 1\n  call: [{execute_command: {command: touch made.txt}}]\n',
  });
  fs.writeFileSync(`${workspace.root}/door.png`, PNG);
  await workspace.guild('run', 'boss', 'Look at the door', '--attach', 'door.png');
  const { server, host } = await openWindow(t, workspace);
  const { page, faults } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/conversation/${sessionOf(workspace, 'boss')}`);
  await page.waitForSelector('.attached:has-text("door.png") >> text=image/png');
  assert.equal(await page.locator('img').count(), 0, 'nothing of it is drawn');
  await page.goto(`http://${host}/#/inbox`);
  await page.waitForSelector('.ffoot:has-text("Attached to its task") >> text=door.png');
  await page.waitForSelector('.ffoot >> text=/approvals\\.task\\.md:\\d+/');
  assert.deepEqual(faults, []);
});

test('a stored text is read only where a message names it, and a browser never runs it', async (t) => {
  const workspace = await readingPlace(t);
  const window = await openWindow(t, workspace);
  const [boss, quiet] = [sessionOf(workspace, 'boss'), sessionOf(workspace, 'quiet')];
  const hash = cutIn((await window.get(`/api/sessions/${boss}`)).json<Conversation>());
  const reply = await window.get(`/api/sessions/${boss}/texts/${hash}`);
  assert.equal(reply.status, 200);
  assert.match(reply.text, /line 100 of the report <img/);
  assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(reply.headers['content-disposition'], 'attachment');
  assert.equal(reply.headers['x-content-type-options'], 'nosniff');
  assert.equal(reply.headers['content-security-policy'], "default-src 'none'; sandbox");
  const refused = [
    `sessions/${quiet}/texts/${hash}`, // another conversation
    `sessions/${boss}/texts/${hashOf(OTHER)}`, // named by the agent's own words
    `sessions/${boss}/texts/..%2F..%2Fguild.yaml`,
    `sessions/..%2Fsessions%2F${boss}/texts/${hash}`,
    `tasks/${boss.replace('boss-', '')}/texts/${hash}`,
  ];
  for (const route of refused) assert.equal((await window.get(`/api/${route}`)).status, 404, route);
  const { cookie } = window;
  assert.equal((await window.raw(`/api/sessions/${boss}/texts/${hash}`, { headers: { cookie } })).status, 403);
  const shown = await openWindow(t, workspace, { readOnly: true });
  assert.equal((await shown.get(`/api/sessions/${boss}/texts/${hash}`)).status, 404, 'guests have no such route');
});

test('a cut result is opened whole in the conversation, as text', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await readingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page, faults } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/conversation/${sessionOf(workspace, 'boss')}`);
  await page.click('.fold summary:has-text("read_file")');
  assert.equal(await page.locator('.fold:has-text("line 100 of")').count(), 0, 'the middle is cut');
  await page.click('button:has-text("Show the whole text")');
  await page.waitForSelector('.whole pre:has-text("line 100 of the report <img src=x onerror=alert(1)>")');
  assert.equal(await page.locator('img').count(), 0);
  await page.click('.whole button:text-is("Close")');
  await page.waitForSelector('.whole pre', { state: 'detached' });
  assert.deepEqual(faults, []);
});
