/** The commands that open windows: another link, a recording, and stories that play. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { Page } from 'playwright-core';
import { place, succeeds, type Running } from '../kit/guild.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { until } from '../kit/until.js';
import { askingPlace, SCRIPTED } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('web/commands', 5);

const urlOf = (running: Running): Promise<string> => running.says(/"url": ?"([^"]+)"/);

test('guild ui --link prints an address that enters the open window, once', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const window = workspace.start('ui', '--no-work', '--json', '--port', '0');
  await urlOf(window);
  const another = await workspace.guild('ui', '--link', '--json');
  assert.equal(another.code, 0, another.err);
  const { url } = JSON.parse(another.out) as { url: string };
  const { page } = await showPage(browser, url);
  assert.equal(new URL(page.url()).hash.includes('t='), false, 'the token is not kept in the address');
  await page.waitForSelector('text=Waiting for you');
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(url);
  await stranger.waitForSelector('text=has already been used');
  const shown = await workspace.guild('ui', '--link', '--read-only');
  assert.equal(shown.code, 1, 'no read-only window is open');
  window.interrupt();
  await window.ended;
  assert.equal((await workspace.guild('ui', '--link')).code, 1, 'a closed window has no link');
});

test('the window names keys of guild.yaml that its guild watch takes over only at the next start', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const window = workspace.spawn('ui', '--json', '--port', '0');
  const { page } = await showPage(browser, await urlOf(window));
  await page.waitForSelector('text=1 process working');
  workspace.put('guild.yaml', SCRIPTED.replace('script.yaml', 'other.yaml'));
  await page.waitForSelector('.notice:has-text("Its providers will count")');
  workspace.put('guild.yaml', SCRIPTED);
  await page.waitForSelector('.notice', { state: 'detached' });
  await t.test('and a key that pending tasks wait for', async () => {
    workspace.put('agents/hand.md', '---\ndescription: Helps\nmodel: openai/gpt-x\n---\nYou help.\n');
    workspace.put('tasks/pending/lend.json', '{"description": "Lend a hand", "to": "hand"}');
    await page.waitForSelector('.notice:has-text("OPENAI_API_KEY is not set"):has-text("the tasks of hand")');
    succeeds(await workspace.guild('task', 'cancel', 'lend'));
    await page.waitForSelector('.notice', { state: 'detached' });
  });
  window.interrupt();
  assert.equal((await window.ended).code, 0);
});

test('guild ui --cassette replays a recording, shows its run and leaves nothing behind', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'notes.md': 'Milk.\n',
    'script.yaml': '- turn: 1\n  call:\n    - read_file: {path: notes.md}\n- turn: 2\n  say: It says milk.\n',
  });
  succeeds(await workspace.guild('record', 'tape.jsonl', 'run', 'boss', 'Read my notes'));
  const elsewhere = place(t);
  fs.copyFileSync(`${workspace.root}/tape.jsonl`, `${elsewhere.root}/tape.jsonl`);
  const window = elsewhere.start('ui', '--cassette', 'tape.jsonl', '--json');
  const { page, faults } = await showPage(browser, await urlOf(window));
  await page.waitForSelector('text=Read only');
  const folder = await page.getAttribute('.path', 'title');
  await page.click('nav a[href="#/replay"]');
  await page.click('.rrow:has-text("Read my notes")');
  await page.waitForSelector('.story li:has-text("used read_file")');
  assert.deepEqual(faults, []);
  window.interrupt();
  assert.equal((await window.ended).code, 0);
  assert.equal(fs.existsSync(folder!), false);
  const missing = await elsewhere.guild('ui', '--cassette', 'none.jsonl');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /none\.jsonl/);
});

/** A click on a request that has just appeared counts for nothing, so a person clicks again. */
async function approve(page: Page, what: string): Promise<void> {
  const title = page.locator(`.idetail h2:has-text("${what}")`);
  const button = page.locator('.abar button:has-text("approve")').first();
  await title.waitFor();
  await until(async () => {
    if (await button.isVisible()) await button.click({ timeout: 1000 }).catch(() => undefined);
    return !(await title.isVisible());
  });
}

test('guild demo --ui plays the office day, and the person clicks', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const here = place(t);
  const demo = here.start('demo', '--ui', '--pace', '0', '--dir', 'day', '--json');
  const { page, faults } = await showPage(browser, await urlOf(demo));
  // The story begins when the page is open. Its first line links to the Inbox.
  await page.click('.story a:has-text("Open the Inbox")');
  for (const what of ['podman ps', 'reply']) await approve(page, what);
  await until(() => here.list('day/tasks/completed').some((name) => /^inbox-[^.]+\.json$/.test(name)));
  assert.match(here.read('day/inbox/slack-outbox.jsonl'), /sarah/i);
  await page.waitForSelector('.story:has-text("The story has ended") a:has-text("Replay it")');
  // `approve` may press the button again before the answer is drawn; the server refuses that.
  const others = faults.filter((fault) => !fault.includes('409 (Conflict)'));
  assert.deepEqual(others, []);
  demo.interrupt();
  assert.equal((await demo.ended).code, 0);
});

test('a story starts when its window is opened, and its agents take their time', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const here = place(t);
  const demo = here.start('demo', '--ui', '--pace', '20', '--dir', 'day', '--json');
  const link = await urlOf(demo);
  assert.deepEqual(here.list('day/inbox'), [], 'Sarah has not written yet');
  const { page, faults } = await showPage(browser, link);
  await page.waitForSelector('.story:has-text("Sarah asks on Slack")');
  await page.waitForSelector('.work:has-text("planner") .tail');
  await page.setViewportSize({ width: 390, height: 500 });
  const hidden = "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.story'))";
  assert.equal(await page.evaluate<number>(hidden), 0, 'its words have room above a long page on a phone');
  assert.deepEqual(faults, []);
  demo.interrupt();
  assert.equal((await demo.ended).code, 0);
  const unseen = here.start('demo', '--ui', '--dir', 'unseen', '--json');
  await urlOf(unseen);
  unseen.interrupt();
  assert.equal((await unseen.ended).code, 0, 'a story that nobody opened ends, too');
});

test('guild demo --ui shows the swarm making an agent and the deadlock being broken', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const here = place(t);
  const swarm = here.start('demo', '--ui', '--story', 'swarm', '--pace', '0', '--dir', 'swarm', '--json');
  const { page } = await showPage(browser, await urlOf(swarm));
  await page.click('nav a[href="#/inbox"]');
  await approve(page, 'drawer');
  await until(() => fs.existsSync(`${here.root}/swarm/agents/drawer.md`));
  await page.click('nav a[href="#/agents"]');
  await page.waitForSelector('.arow:has-text("drawer")');
  swarm.interrupt();
  await swarm.ended;
  const deadlock = here.start('demo', '--ui', '--story', 'deadlock', '--pace', '0', '--dir', 'lock', '--json');
  const { page: waits } = await showPage(browser, await urlOf(deadlock));
  await waits.click('nav a[href="#/waits"]');
  await waits.waitForSelector('text=Deadlock of 3 found and resolved');
  await waits.click('nav a[href="#/hall"]');
  await waits.waitForSelector('.lane:has-text("the program")');
  deadlock.interrupt();
  await deadlock.ended;
  const before = here.list('.');
  const wrong = await here.spawnWith({ env: { TMPDIR: here.root } }, 'demo', '--ui', '--pace', 'fast').ended;
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--pace/);
  assert.deepEqual(here.list('.'), before, 'no folder is left behind');
});
