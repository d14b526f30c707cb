/**
 * Markup, links and invisible characters in fields that an agent, a plugin or another machine can
 * write and that test/web/pages does not cover: names of tools and models, bids, schedules,
 * results, errors, sources, hosts and exported runs.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { place, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';
import { openBrowser, showPage } from '../../kit/web/browser.js';
import { askingPlace, openWindow, SCRIPTED } from '../../kit/web/window.js';

const HOSTILE =
  '<img src=x onerror="window.hacked=1">\u202Etxt.exe\u200B [go](javascript:window.hacked=1) </script><script>window.hacked=1</script>';
/** A part of the text that the page must show as text. */
const SHOWN = 'onerror="window.hacked=1"';

const iso = new Date().toISOString();

/** Fills every field with hostile text, as a model, an MCP server or another machine could. */
function poison(workspace: Place, task: string, session: string): void {
  const file = `sessions/${session}.session.yaml`;
  workspace.put(file, workspace.read(file).replaceAll('name: execute_command', `name: ${JSON.stringify(HOSTILE)}`));
  const day = `events/${iso.slice(0, 10)}.jsonl`;
  const usage = { turn: 9, calls: 1, input_tokens: 9, output_tokens: 1, ms: 15, micro_usd: 1 };
  const scores = [{ agent: HOSTILE, verdict: HOSTILE, said: HOSTILE, record: HOSTILE, score: 9, threshold: 1 }];
  const events = [
    { name: 'model.answered', task, agent: HOSTILE, model: HOSTILE, role: HOSTILE, ...usage },
    { name: 'tool.ran', task, agent: HOSTILE, tool: HOSTILE, argument: HOSTILE, ms: 3, ok: false },
    { name: 'task.awarded', task, agent: HOSTILE, scores },
  ];
  const lines = events.map((event) => `${JSON.stringify({ at: iso, ...event })}\n`);
  workspace.put(day, workspace.read(day) + lines.join(''));
  const rest = { requirements: [], dependencies: [], context: {}, priority: 'C', depth: 0, attempts: 1, version: 1 };
  const base = { role: 'root', description: HOSTILE, created_at: iso, taint: [HOSTILE], ...rest };
  const error = { code: 'tool_failed', message: HOSTILE, hint: HOSTILE, where: { file: HOSTILE, line: 1 } };
  const put = (state: string, id: string, more: object): void =>
    workspace.put(`tasks/${state}/${id}.json`, JSON.stringify({ id, root: id, ...base, ...more }));
  put('failed', 'bad', { to: 'boss', ended_at: iso, error, result: HOSTILE });
  put('pending', 'weekly', { to: 'boss', schedule: { cron: '0 9 * * 1', timezone: 'UTC' } });
}

/** The fields are on the page as text only: no markup, no link, no script. */
async function harmless(page: Page, name: string): Promise<string> {
  const found = await page.evaluate<{ text: string; hacked: unknown; nodes: number; links: string[] }>(`({
    text: document.title + document.body.innerText,
    hacked: window.hacked ?? null,
    nodes: document.querySelectorAll('img, iframe, object, embed, main script').length,
    links: [...document.querySelectorAll('[href]')].map((a) => a.href).filter((href) => /^(javascript|data):/i.test(href)),
  })`);
  const { text, ...rest } = found;
  assert.deepEqual(rest, { hacked: null, nodes: 0, links: [] }, name);
  assert.doesNotMatch(text, /[\u202A-\u202E\u2066-\u2069\u200B-\u200F]/, name);
  return text;
}

test('names of tools and models, bids, schedules, errors and sources are text on every page', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  poison(workspace, task, session);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const shows: [name: string, click?: string][] = [
    [`conversation/${session}`],
    ['task/bad'],
    ['task/weekly'],
    ['tasks'],
    ['tasks?view=board'],
    ['agents', 'button:text-is("Bids")'],
    ['costs', 'button:text-is("Agent")'],
  ];
  for (const [name, click] of shows) {
    await page.goto(`http://${host}/#/${name}`);
    if (click !== undefined) await page.click(click);
    await until(async () => (await harmless(page, name)).includes(SHOWN));
  }
  const others: [name: string, click: string][] = [
    ['task/bad', 'button:text-is("Why")'],
    [`task/${task}`, 'button:text-is("Tree")'],
    [`replay/${task}`, 'button:has-text("Play")'],
    ['costs', 'button:text-is("Role")'],
  ];
  for (const [name, click] of others) {
    await page.goto(`http://${host}/#/${name}`);
    await page.click(click);
    await page.waitForSelector('.still', { state: 'detached' });
    await harmless(page, name);
  }
  assert.deepEqual(
    asked.filter((url) => !url.startsWith(`http://${host}/`)),
    [],
  );
});

test('another machine cannot write markup with its name', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  workspace.spawn('watch');
  const live = path.join(workspace.root, 'agents', 'live');
  const own = await until(() => fs.readdirSync(live).find((name) => name.endsWith('.json')));
  const peer = JSON.parse(fs.readFileSync(path.join(live, own), 'utf8')) as object;
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  workspace.put('agents/live/other.json', JSON.stringify({ ...peer, id: 'other', host: HOSTILE, agents: [HOSTILE] }));
  await page.goto(`http://${host}/#/machines`);
  await until(async () => (await harmless(page, 'machines')).includes(SHOWN));
});

test('an exported run has the same text, and nothing of it runs', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  poison(workspace, workspace.list('tasks/waiting')[0]!.replace('.json', ''), session);
  succeeds(await workspace.guild('export', 'bad', '--all', '--out', 'run.html'));
  const page = await browser.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`file://${path.join(workspace.root, 'run.html')}`);
  await page.waitForSelector('h1');
  assert.ok((await harmless(page, 'export')).includes(SHOWN));
  assert.deepEqual(
    asked.filter((url) => !url.startsWith('file:')),
    [],
  );
});

test('a link says its whole address, and text that was influenced from outside has none', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}inbox: { agent: boss }\n`,
    'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n',
    'script.yaml': '- say: "Read [the bank](https://evil.example/login?a=b)."\n',
  });
  succeeds(await workspace.guild('run', 'boss', 'Begin the work'));
  const [own] = workspace.list('sessions');
  await workspace.guild('mail', 'add', 'Begin for me', '--from', 'eve', '--channel', 'slack');
  await workspace.guild('pump', '--all');
  const foreign = workspace.list('sessions').find((name) => name !== own);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  const linksOf = async (name: string): Promise<string[]> => {
    await page.goto(`http://${host}/#/${name}`);
    await page.waitForSelector('main >> text=evil.example/login?a=b');
    return await page.locator('main a[href*="evil.example"]').allTextContents();
  };
  const ids = [own, foreign].map((name) => name!.replace('.session.yaml', ''));
  assert.deepEqual(await linksOf(`conversation/${ids[0]}`), ['https://evil.example/login?a=b']);
  assert.deepEqual(await linksOf(`conversation/${ids[1]}`), []);
  assert.deepEqual(await linksOf(`task/${ids[0]!.replace('boss-', '')}`), ['https://evil.example/login?a=b']);
  assert.deepEqual(await linksOf(`task/${ids[1]!.replace('boss-', '')}`), []);
});
