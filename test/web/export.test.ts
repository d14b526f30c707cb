/** An exported run is one file that connects to nothing and leaves out what came from outside. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Conversation } from '../../src/web/base/contract.js';
import { openBrowser } from '../kit/web/browser.js';
import { redaction } from '../../src/web/redact.js';
import { place, succeeds } from '../kit/guild.js';
import { askingPlace, openWindow, SCRIPTED } from '../kit/web/window.js';

test('an exported run opens from disk, without connections and without text from outside', async (t) => {
  const workspace = await askingPlace(t, 'echo a-secret-result');
  succeeds(await workspace.guild('pump', '--all'));
  const task = workspace
    .list('tasks/completed')
    .find((name) => !name.includes('.call-'))!
    .replace('.json', '');
  succeeds(await workspace.guild('export', task, '--out', 'run.html'));
  assert.doesNotMatch(workspace.read('run.html').replaceAll(/"arguments":"[^]*?"main"/g, ''), /a-secret-result\\n/);
  const again = await workspace.guild('export', task, '--out', 'run.html');
  assert.equal(again.code, 1);
  assert.match(again.err, /exists/);

  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const page = await browser.newPage();
  const asked: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(`file://${path.join(workspace.root, 'run.html')}`);
  await page.waitForSelector('text=Begin the work');
  const overflow = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth - innerWidth');
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await overflow(), 0, 'the run fits a phone');
  await page.click('.srow a');
  await page.waitForSelector('.fold summary');
  assert.equal(await overflow(), 0, 'a conversation fits a phone');
  const links = '.comp, .acts button, a:text-is("Replay"), a[href^="#/agents"], a[href^="#/compare"]';
  assert.equal(await page.locator(links).count(), 0, 'nothing that needs a server');
  assert.deepEqual(
    asked.filter((url) => !url.startsWith('file:')),
    [],
  );
  assert.deepEqual(faults, []);
});

test('an exported run keeps the words of the person, and hides those that came from outside', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n',
    'script.yaml': '- say: Done.\n',
  });
  const record = (id: string, more: object): string => {
    const at = new Date().toISOString();
    const common = {
      id,
      root: 'asked',
      to: 'boss',
      created_at: at,
      ended_at: at,
      attempts: 1,
      version: 1,
      priority: 'C',
    };
    const rest = { requirements: [], dependencies: [], context: { taint: ['web/search'] } };
    return JSON.stringify({ ...common, ...rest, ...more });
  };
  const own = {
    description: 'Plan the opening',
    role: 'root',
    depth: 0,
    result: 'It opens in May.',
  };
  const part = { description: 'Look at what Eve wrote', role: 'call', depth: 1, parent: 'asked', created_by: 'boss' };
  workspace.put('tasks/completed/asked.call-1.json', record('asked.call-1', { ...part, result: 'Eve wrote.' }));
  const exported = async (by: object): Promise<string> => {
    workspace.put('tasks/completed/asked.json', record('asked', { ...own, ...by }));
    succeeds(await workspace.guild('export', 'asked', '--out', 'run.html', '--force'));
    return workspace.read('run.html');
  };
  // A file that a person drops does not say who created it.
  for (const by of [{ created_by: 'human' }, {}]) {
    const html = await exported(by);
    assert.match(html, /"title":"Plan the opening"/);
    assert.doesNotMatch(html, /It opens in May|what Eve wrote|Eve wrote/);
  }
  assert.doesNotMatch(await exported({ created_by: 'slack/eve' }), /Plan the opening/);
});

test('an exported run does not say what its agent does now, which may be about another run', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [ask_human]\n---\nYou are the boss.\n',
    'script.yaml': `- {task: first, say: Done.}\n- {call: [{ask_human: {question: 'Which floor?'}}]}\n`,
  });
  workspace.put('tasks/pending/first.json', JSON.stringify({ description: 'Count the chairs', to: 'boss' }));
  succeeds(await workspace.guild('pump', '--all'));
  workspace.put('tasks/pending/second.json', JSON.stringify({ description: 'Plan a surprise', to: 'boss' }));
  await workspace.guild('pump', '--all');
  const window = await openWindow(t, workspace);
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  const { agentNow } = (await window.get(`/api/sessions/${session}`)).json<Conversation>();
  assert.equal(agentNow?.state, 'blocked');
  for (const more of [[], ['--all']]) {
    succeeds(await workspace.guild('export', 'first', '--out', 'run.html', '--force', ...more));
    const html = workspace.read('run.html');
    assert.match(html, /Count the chairs/);
    assert.doesNotMatch(html, /"agentNow"|Which floor|surprise/);
  }
});

test('an exported run has no secret, even with --all', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    '.env': 'SHOP_PASSWORD="correct-horse-battery"\n',
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'script.yaml': '- say: The password is correct-horse-battery and the key is sk-live-0123456789.\n',
  });
  const env = { SHOP_API_KEY: 'sk-live-0123456789' };
  await workspace.guildWith({ env }, 'run', 'boss', 'Say the password');
  const task = workspace.list('tasks/completed')[0]!.replace('.json', '');
  succeeds(await workspace.guildWith({ env }, 'export', task, '--all', '--out', 'run.html'));
  const html = workspace.read('run.html');
  assert.match(html, /The password is/);
  assert.doesNotMatch(html, /correct-horse-battery|sk-live-0123456789/);
});

test('a call that touches a secret file is exported without its arguments and its result', (t) => {
  const { call } = redaction(place(t, {}).root, {});
  const given = { id: '1', tool: 'execute_command', main: 'cat', result: 'KEY=1', ok: true };
  const hidden = call({ ...given, arguments: '{"command": "cat .env.production"}' });
  assert.doesNotMatch(JSON.stringify(hidden), /KEY=1|env\.production/);
  const shown = { ...given, arguments: '{"command": "cat notes.md"}' };
  assert.deepEqual(call(shown), shown);
});
