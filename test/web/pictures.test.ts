/**
 * Every page of a workspace with real work, at three widths, light and dark: nothing overflows, no
 * text is squeezed, no errors, nothing serious for axe. With GUILD_PICTURES=DIR each page is also
 * kept as a picture; docs/pictures/window-*.png are made this way (scripts/screenshots.mjs).
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test as always } from 'node:test';
import type { Page } from 'playwright-core';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { openBrowser, seriousFaults, showPage, squeezedTexts } from '../kit/web/browser.js';
import { scene } from '../kit/web/scene.js';
import { openWindow } from '../kit/web/window.js';

const FOLDER = process.env['GUILD_PICTURES'];
/** A workspace with work of every kind takes a while, so work.test.ts shares the sample. */
const test = FOLDER === undefined ? sampleTests('web, a scene', 4, 3) : always;

interface View {
  name: string;
  page: string;
  /** A selector to click before the picture is taken. */
  click?: string;
}

const RUN = 'build_user_api';

const VIEWS: View[] = [
  { name: 'hall', page: 'hall' },
  { name: 'inbox', page: 'inbox/CHANGE' },
  { name: 'inbox-command', page: 'inbox/COMMAND' },
  { name: 'tasks', page: 'tasks' },
  { name: 'task', page: `task/${RUN}` },
  { name: 'waits', page: 'waits' },
  { name: 'conversation', page: 'conversation/SESSION' },
  { name: 'agents', page: 'agents', click: 'button:text-is("Graph")' },
  { name: 'costs', page: 'costs' },
  { name: 'task-tree', page: `task/${RUN}`, click: 'button:text-is("Tree")' },
  { name: 'task-why', page: `task/${RUN}`, click: 'button:text-is("Why")' },
  { name: 'task-files', page: `task/${RUN}`, click: 'button:text-is("Files")' },
  { name: 'task-failed', page: 'task/seats' },
  { name: 'agents-list', page: 'agents/press_office' },
  { name: 'agents-edit', page: 'agents/press_office', click: 'button:text-is("Edit file")' },
  { name: 'agents-bids', page: 'agents', click: 'button:text-is("Bids")' },
  { name: 'board', page: 'tasks?view=board' },
  { name: 'tree', page: 'tasks?view=tree' },
  { name: 'conversations', page: 'conversations' },
  { name: 'prompt', page: 'prompt/SESSION' },
  { name: 'boards', page: 'boards' },
  { name: 'notes', page: 'notes/news' },
  { name: 'history', page: 'history', click: '.hrow:nth-child(4)' },
  { name: 'replay', page: `replay/${RUN}` },
  { name: 'machines', page: 'machines' },
  // Comes last, because every page after it would show that moment.
  { name: 'waits-deadlock', page: 'waits', click: '.seg button:first-child' },
];

/** Every width in one of the two themes; both themes if pictures are kept. */
const SCREENS = [
  { width: 1440, dark: false },
  { width: 1024, dark: true },
  { width: 390, dark: false },
  { width: 1440, dark: true },
  { width: 1024, dark: false },
  { width: 390, dark: true },
].slice(0, FOLDER === undefined ? 3 : undefined);

test('every page of a workspace with work of every kind looks right', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { workspace } = await scene(t);
  const { server, host } = await openWindow(t, workspace, { env: { HOME: path.dirname(workspace.root) } });
  const requests = workspace.list('tasks/pending');
  const ids: Record<string, string> = {
    SESSION: workspace
      .list('sessions')
      .find((name) => /routes.*work/.test(name))!
      .replace('.session.yaml', ''),
    CHANGE: requests.find((name) => name.startsWith('redis-note.'))!.replace('.json', ''),
    COMMAND: requests.find((name) => /^inbox-slack.*call.*call/.test(name))!.replace('.json', ''),
  };
  for (const { width, dark } of SCREENS) {
    const { page, faults } = await showPage(browser, server.link(), width, dark);
    const views = FOLDER === undefined ? sampleOf(`views at ${width}`, VIEWS, 7) : VIEWS;
    for (const view of views) {
      const named = view.page.replace(/[A-Z]{4,}/, (word) => encodeURIComponent(ids[word]!));
      await open(page, host, { ...view, page: named });
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wide <= 0, `${view.name} overflows by ${wide} pixels at ${width}`);
      assert.deepEqual(await squeezedTexts(page), [], `${view.name} at ${width}`);
      assert.deepEqual(await seriousFaults(page), [], `${view.name} at ${width}`);
      if (FOLDER !== undefined) await keep(page, `${view.name}-${width}${dark ? '-dark' : ''}`);
    }
    assert.deepEqual(faults, [], `errors at ${width}`);
    await page.context().close();
  }
});

async function open(page: Page, host: string, { page: name, click }: View): Promise<void> {
  await page.goto(`http://${host}/#/hall`);
  await page.goto(`http://${host}/#/${name}`);
  await page.waitForSelector(':is(h1, h2):visible');
  await page.waitForSelector('.still', { state: 'detached' });
  if (click !== undefined) await page.click(click);
  await page.waitForSelector('.still', { state: 'detached' });
}

async function keep(page: Page, name: string): Promise<void> {
  fs.mkdirSync(FOLDER!, { recursive: true });
  // Graphs and charts are drawn a moment after their data has arrived.
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(FOLDER!, `${name}.png`) });
}
