/** The window in a real browser: every page, every key that answers, and what old browsers see. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test as always } from 'node:test';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { PAGES } from '../kit/web/opened.js';
import { openBrowser, seriousFaults, showPage } from '../kit/web/browser.js';
import { ROOT, succeeds } from '../kit/guild.js';
import { askingPlace, openWindow } from '../kit/web/window.js';
import type { Place } from '../kit/guild.js';
import { until } from '../kit/until.js';

const test = sampleTests('web/pages', 3);

test('every page opens at every width, without errors and without serious faults for axe', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  workspace.put('tasks/plan.task.md', '# Plan\n\n- [ ] Water the plants @boss\n');
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  const { server, host } = await openWindow(t, workspace);
  const pages = [...PAGES, `task/${task}`, `conversation/${session}`, `replay/${task}`, `prompt/${session}`];
  for (const [width, dark] of [
    [1440, false],
    [1024, true],
    [390, false],
  ] as const) {
    const { page, faults } = await showPage(browser, server.link(), width, dark);
    for (const name of sampleOf(`pages at ${width}`, pages, 5)) {
      await page.goto(`http://${host}/#/${name}`);
      await page.waitForSelector(':is(h1, h2):visible');
      await page.waitForSelector('.still', { state: 'detached' });
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${name} overflows by ${wide} pixels at ${width}`);
      assert.deepEqual(await seriousFaults(page), [], `${name} at ${width}`);
    }
    assert.deepEqual(faults, [], `errors at ${width}`);
    await page.context().close();
  }
});

test('on a phone every row of the list of tasks has room for its title', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const title = 'Find out whether the container is running on this machine';
  workspace.put('tasks/pending/from-outside.json', JSON.stringify({ description: title, to: 'nobody-here' }));
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link(), 390);
  await page.goto(`http://${host}/#/tasks`);
  const row = page.locator('.tr', { hasText: title });
  await row.waitFor();
  const wide = await row.locator('.link').evaluate((link) => link.getBoundingClientRect().width);
  assert.ok(wide > 300, `the title has ${wide} pixels`);
  const [state, when] = [row.locator('.chip').first(), row.locator('.num').last()];
  assert.ok((await state.isVisible()) && (await when.isVisible()), 'the state and the time are in the second line');
});

test('one key approves the request on the screen; the next request needs its own key', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/inbox`);
  await page.waitForSelector('.abar');
  await page.keyboard.press('y');
  if (await page.isVisible('text=Really approve')) await page.keyboard.press('Enter');
  await intent(workspace, /"approved": ?true/);
  succeeds(await workspace.guild('pump', '--all'));
  await page.waitForSelector('text=Nothing waits for you');
});

test('a rejection asks for a reason and sends it', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link(), 390);
  await page.goto(`http://${host}/#/inbox`);
  await page.click('text=Reject');
  await page.fill('textarea', 'use the other folder');
  await page.click('.abar .btn.pri');
  await intent(workspace, /use the other folder/);
});

/** Waits until an intent with this text was written. */
async function intent(workspace: Place, text: RegExp): Promise<void> {
  const read = (): string =>
    workspace
      .list('.guild/intents')
      .map((name) => workspace.read(`.guild/intents/${name}`))
      .join();
  await until(() => text.test(read()));
}

test('a change on disk appears without a reload', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/tasks`);
  await page.waitForSelector('.tr');
  workspace.put('tasks/pending/fresh.json', '{"description": "Just dropped into the folder"}');
  await page.waitForSelector('text=Just dropped into the folder');
});

test('a browser without script shows what it needs', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, await askingPlace(t));
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(server.link());
  assert.match((await page.textContent('body')) ?? '', /needs a browser with JavaScript modules/);
});

test('a browser with script but without modules is told what it needs', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server, raw } = await openWindow(t, await askingPlace(t));
  const page = await (await browser.newContext()).newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  // Such a browser skips scripts of a type that it does not know.
  const body = (await raw('/')).text.replaceAll('type="module"', 'type="unknown"');
  await page.route('**/', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
  await page.goto(server.link());
  assert.equal(await page.evaluate('typeof Promise'), 'function', 'script runs');
  assert.ok(await page.isVisible('text=needs a browser with JavaScript modules'));
  assert.ok(await page.isVisible('text=guild inbox'), 'it says what works without one');
  assert.deepEqual(
    asked.filter((path) => path.startsWith('/api/')),
    [],
    'nothing of the workspace was asked for',
  );
});

always('every pair of colours has a contrast of at least 4.5', () => {
  const css = fs.readFileSync(`${ROOT}/web/style/tokens.css`, 'utf8');
  for (const theme of [1, 2]) {
    const colour = (name: string): string =>
      new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(css)![theme]!;
    const tones = ['accent', 'working', 'waiting', 'you', 'done', 'failed', 'outside', 'check'];
    for (const text of ['ink', 'ink-2', 'ink-3', ...tones])
      for (const ground of ['paper', 'surface', 'sunken'])
        atLeast(colour(text), colour(ground), `${text} on ${ground}`);
    for (const tone of tones) atLeast(colour(tone), colour(`${tone}-bg`), `${tone} on its ground`);
    atLeast(colour('on-accent'), colour('accent'), 'on accent');
    for (const ground of ['added', 'added-word', 'removed', 'removed-word'])
      atLeast(colour('ink'), colour(ground), `ink on ${ground}`);
  }
});

function atLeast(text: string, ground: string, pair: string): void {
  const [light, dark] = [text, ground].map(luminance).sort((a, b) => b - a);
  const contrast = (light! + 0.05) / (dark! + 0.05);
  assert.ok(contrast >= 4.5, `${pair}: ${contrast.toFixed(2)}`);
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
