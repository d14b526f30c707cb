/** Lists of tasks do not move while tasks come and go. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Row, ViewOpened, ViewRows } from '../../src/web/base/contract.js';
import { openFeed } from '../../src/web/base/feed.js';
import { openLog } from '../../src/web/base/log.js';
import { presentOf } from '../../src/web/reads/moment.js';
import { openViews, ViewGone } from '../../src/web/views.js';
import { environment, place, type Place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { openWindow, SCRIPTED, type Window } from '../kit/web/window.js';

const test = sampleTests('web/views', 2);

/** Ended tasks, the oldest first. */
function workspaceOf(t: TestContext, tasks: number): Place {
  const boss = '---\ndescription: Does it\n---\nYou are the boss.\n';
  const workspace = place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': boss });
  for (let n = 0; n < tasks; n++) end(workspace, `old-${String(n).padStart(4, '0')}`, n);
  return workspace;
}

function end(workspace: Place, id: string, minute: number, parent?: string): void {
  const at = new Date(Date.parse('2026-03-02T08:00:00.000Z') + minute * 60_000).toISOString();
  const task = {
    id,
    parent,
    root: id,
    role: 'root',
    description: `Title of ${id}`,
    to: 'boss',
    created_at: at,
    ended_at: at,
  };
  const rest = { requirements: [], dependencies: [], context: {}, priority: 'C', depth: 0, attempts: 1, version: 1 };
  workspace.put(`tasks/completed/${id}.json`, JSON.stringify({ ...task, ...rest, result: 'Done.' }));
}

const open = async (window: Window, where = '', keep?: string): Promise<ViewOpened> =>
  (await window.post('/api/views', { where, keep })).json<ViewOpened>();
const rowsOf = async (window: Window, view: string, range = ''): Promise<ViewRows> =>
  (await window.get(`/api/views/${view}${range}`)).json<ViewRows>();

test('a view keeps its order, has rows as they are now, and says what it lacks', async (t) => {
  const workspace = workspaceOf(t, 5);
  const window = await openWindow(t, workspace);
  const { view, total } = await open(window);
  assert.equal(total, 5);
  const before = await rowsOf(window, view);
  assert.deepEqual([before.next, before.added, before.all], [undefined, 0, 5]);
  assert.deepEqual((await rowsOf(window, view, '?from=1&to=3')).rows, before.rows.slice(1, 3));
  workspace.put('tasks/pending/new.json', '{"description": "Came later", "dependencies": ["never"]}');
  const path = `${workspace.root}/tasks/completed/old-0003.json`;
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace('Title of', 'Another title of'));
  fs.rmSync(`${workspace.root}/tasks/completed/old-0001.json`);
  const after = await until(async () => {
    const now = await rowsOf(window, view);
    return now.added === 1 && JSON.stringify(now).includes('isGone') ? now : undefined;
  });
  assert.deepEqual([after.total, after.all], [5, 5]);
  assert.deepEqual(
    after.rows.map(({ id }) => id),
    before.rows.map(({ id }) => id),
    'the same rows in the same places',
  );
  assert.deepEqual(after.rows[3], { id: 'old-0001', isGone: true });
  await until(async () => ((await rowsOf(window, view)).rows[1] as Row).title === 'Another title of old-0003');
  const next = await open(window, '', 'old-0003');
  assert.deepEqual([next.total, next.index], [5, 2], 'the row is found again');
  assert.equal((await rowsOf(window, view)).next, next.view);
  assert.equal((await rowsOf(window, next.view)).next, undefined);
  assert.equal((await open(window)).view, next.view, 'the same list is one view for all windows');
});

test('a view of a query changes with its matches only, and a bad query opens none', async (t) => {
  const workspace = workspaceOf(t, 4);
  const window = await openWindow(t, workspace);
  const { view, total } = await open(window, "description LIKE '%0002%'");
  assert.equal(total, 1);
  workspace.put('tasks/pending/other.json', '{"description": "No match", "dependencies": ["never"]}');
  await until(async () => (await rowsOf(window, view)).all === 5);
  assert.equal((await rowsOf(window, view)).next, undefined);
  workspace.put('tasks/pending/match.json', '{"description": "Like 0002", "dependencies": ["never"]}');
  await until(async () => (await rowsOf(window, view)).added === 1);
  const refused = await window.post('/api/views', { where: 'state = = 1' });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /"line":1,.*WHERE state = = 1/, 'the place in the words of the person');
  assert.doesNotMatch(refused.text, /SELECT/);
  assert.equal((await window.post('/api/views', { where: '', at: 'yesterday' })).status, 422);
});

test('a query with an order and a limit follows tasks that change, end and go', async (t) => {
  const workspace = workspaceOf(t, 4);
  const feed = await openFeed(workspace.root, environment(workspace.root));
  t.after(() => feed.close());
  const { tasks } = presentOf(feed, await openLog(workspace.root, feed.states))();
  const ids = async (where: string): Promise<string[]> => (await tasks(where)).map(({ id }) => id);
  const byId = "description LIKE 'Title%' ORDER BY id LIMIT 3";
  const becomes = (where: string, wanted: string[]): Promise<unknown> =>
    until(async () => ((await ids(where)).join() === wanted.join() ? true : undefined));
  assert.deepEqual(await ids(byId), ['old-0000', 'old-0001', 'old-0002']);
  assert.deepEqual(await ids("state = 'completed'"), ['old-0003', 'old-0002', 'old-0001', 'old-0000'], 'newest first');
  fs.rmSync(`${workspace.root}/tasks/completed/old-0001.json`);
  await becomes(byId, ['old-0000', 'old-0002', 'old-0003']);
  const path = `${workspace.root}/tasks/completed/old-0000.json`;
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace('Title of', 'Other title of'));
  await becomes(byId, ['old-0002', 'old-0003']);
  workspace.put('tasks/pending/aaa.json', '{"description": "Title of the new one", "dependencies": ["never"]}');
  await becomes(byId, ['aaa', 'old-0002', 'old-0003']);
  await becomes("state = 'completed'", ['old-0003', 'old-0002', 'old-0000']);
});

test('sixteen views are kept, each for five minutes after its last use', async (t) => {
  const workspace = workspaceOf(t, 3);
  const window = await openWindow(t, workspace);
  const first = await open(window);
  const second = await open(window, "state = 'failed'");
  for (let n = 0; n < 15; n++) {
    await rowsOf(window, first.view);
    await open(window, `role = 'role-${n}'`);
  }
  assert.equal((await window.get(`/api/views/${first.view}`)).status, 200, 'it was in use');
  assert.equal((await window.get(`/api/views/${second.view}`)).status, 410);

  const env = environment(workspace.root);
  const feed = await openFeed(workspace.root, env);
  t.after(() => feed.close());
  const present = presentOf(feed, await openLog(workspace.root, feed.states));
  let now = 0;
  const views = openViews(
    async () => present(),
    () => now,
  );
  const { view } = await views.open({ where: '', isTree: false });
  for (let n = 0; n < 3; n++) {
    now += 5 * 60_000;
    assert.equal((await views.rows(view, 0, 9)).rows.length, 3);
  }
  now += 5 * 60_000 + 1;
  await assert.rejects(views.rows(view, 0, 9), ViewGone);
});

/** A run of three tasks, each below the one before, and one task beside it. */
function treePlace(t: TestContext): Place {
  const workspace = workspaceOf(t, 0);
  for (const [n, id] of ['run', 'part', 'step'].entries()) end(workspace, id, n, ['run', 'part'][n - 1]);
  end(workspace, 'other', 9);
  return workspace;
}

test('a tree hides what is below a closed task and counts it, also what comes later', async (t) => {
  const workspace = treePlace(t);
  const window = await openWindow(t, workspace);
  const treeOf = async (fold?: object): Promise<ViewRows> => {
    const { view } = (await window.post('/api/views', { order: 'tree', fold })).json<ViewOpened>();
    return rowsOf(window, view);
  };
  const shown = ({ rows }: ViewRows): unknown[] => (rows as Row[]).map(({ id, fold }) => [id, fold]);
  const open = await treeOf();
  assert.equal(open.deepest, 2);
  assert.deepEqual(shown(open), [
    ['other', undefined],
    ['run', { below: 2, isClosed: false }],
    ['part', { below: 1, isClosed: false }],
    ['step', undefined],
  ]);
  assert.deepEqual(shown(await treeOf({ depth: 1, turned: [] })), [
    ['other', undefined],
    ['run', { below: 2, isClosed: false }],
    ['part', { below: 1, isClosed: true }],
  ]);
  assert.deepEqual(shown(await treeOf({ depth: 0, turned: ['run'] })).slice(1), [
    ['run', { below: 2, isClosed: false }],
    ['part', { below: 1, isClosed: true }],
  ]);
  const closed = await treeOf({ turned: ['run', 'other'] });
  assert.deepEqual([closed.deepest, closed.total], [2, 2]);
  end(workspace, 'late', 10, 'part');
  await until(async () => JSON.stringify(await rowsOf(window, closed.view)).includes('"below":3'));
  assert.equal((await rowsOf(window, closed.view)).next, undefined, 'no row is added to this view');
  assert.equal((await window.post('/api/views', { order: 'tree', fold: { turned: 'run' } })).status, 200);
});

test('a tree is folded by its button, by the arrows, and by levels', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const window = await openWindow(t, treePlace(t));
  const { page } = await showPage(browser, window.server.link());
  await page.goto(`http://${window.host}/#/tasks?view=tree`);
  const titles = async (): Promise<string> =>
    (await page.locator('.trows .link').allTextContents()).map((text) => text.replace('Title of ', '')).join(' ');
  const become = (wanted: string): Promise<unknown> => until(async () => (await titles()) === wanted);
  await become('other run part step');
  await page.click('button[aria-label="Fold Title of part"]');
  await become('other run part');
  assert.equal(await page.locator('.below').textContent(), '1');
  await page.click('button[aria-label="Unfold Title of part"]');
  await become('other run part step');
  await page.keyboard.press('[');
  await become('other run part');
  await page.keyboard.press('[');
  await become('other run');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowRight');
  await become('other run part');
  await page.keyboard.press('ArrowLeft');
  await become('other run');
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  await become('other run part step');
  assert.match((await page.locator('.tr.on').textContent())!, /Title of run/, 'the chosen task stays chosen');
});

/** The row under a place in the middle of the list. */
const MIDDLE = `(() => {
  const box = document.querySelector('.tscroll').getBoundingClientRect();
  return document.elementFromPoint(box.left + 200, box.top + 300)?.closest('.tr')?.textContent;
})()`;

async function scrolled(t: TestContext, tasks: number) {
  const browser = await openBrowser(t);
  if (browser === undefined) return undefined;
  const workspace = workspaceOf(t, tasks);
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link());
  await page.goto(`http://${window.host}/#/tasks`);
  await page.waitForSelector('.tr.on');
  await page.evaluate("document.querySelector('.tscroll').scrollTop = 5000");
  const row = await middleOf(page);
  return { page, window, workspace, row };
}

async function middleOf(page: Page): Promise<string> {
  return until(() => page.evaluate<string | undefined>(MIDDLE));
}

test('a list that the server forgot is asked for again and stays where it was', async (t) => {
  const shown = await scrolled(t, 300);
  if (shown === undefined) return;
  const { page, window, workspace, row } = shown;
  for (let n = 0; n < 16; n++) await open(window, `role = 'role-${n}'`);
  // More rows than are read around the screen.
  for (let n = 0; n < 150; n++) end(workspace, `new-${n}`, 1000 + n);
  await until(async () => (await open(window)).total === 450);
  for (let n = 0; n < 16; n++) await open(window, `role = 'other-${n}'`);
  workspace.put('tasks/pending/last.json', '{"description": "The last", "dependencies": ["never"]}');
  await until(() => page.evaluate<boolean>("document.querySelector('.tscroll').scrollTop > 9000"));
  assert.equal(await middleOf(page), row);
});

test('many tasks above the screen are counted and shown on a click, and the chosen row stays chosen', async (t) => {
  const shown = await scrolled(t, 300);
  if (shown === undefined) return;
  const { page, workspace, row } = shown;
  await page.keyboard.press('j');
  const chosen = await page.locator('.tr.on').textContent();
  await page.evaluate("document.querySelector('.tscroll').scrollTop = 5000");
  for (let n = 0; n < 150; n++) end(workspace, `new-${n}`, 1000 + n);
  await page.waitForSelector('button:text-is("150 new")');
  assert.equal(await middleOf(page), row);
  await page.click('button:text-is("150 new")');
  await page.waitForSelector('.tr:has-text("Title of new-149")');
  await page.waitForSelector('.fresh', { state: 'detached' });
  await page.evaluate("document.querySelector('.tscroll').scrollTop = 151 * 34 - 300");
  await page.waitForSelector('.tr.on');
  assert.equal(await page.locator('.tr.on').textContent(), chosen);
});

/** A list of thirty tasks in a browser; undefined without a browser. */
async function shownList(t: TestContext) {
  const browser = await openBrowser(t);
  if (browser === undefined) return undefined;
  const workspace = workspaceOf(t, 30);
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link());
  await page.goto(`http://${window.host}/#/tasks`);
  await page.waitForSelector('.tr.on');
  return { page, workspace };
}

test('a new task is at the top of an untouched list after two reads: the list says which one follows it', async (t) => {
  const shown = await shownList(t);
  if (shown === undefined) return;
  const { page, workspace } = shown;
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes('/api/views') && asked.push(request.method()));
  workspace.put('tasks/pending/new.json', '{"description": "Came later", "dependencies": ["never"]}');
  await page.waitForSelector('.tr:has-text("Came later")');
  assert.ok(!asked.includes('POST'), 'the query was not asked again');
});

test('a list at its top does not move while a person points at it, and catches up afterwards', async (t) => {
  const shown = await shownList(t);
  if (shown === undefined) return;
  const { page, workspace } = shown;
  await page.evaluate(`addEventListener('pointermove', () => (globalThis.touched = performance.now()), true);
    new MutationObserver(() => {
      if (document.body.textContent.includes('Came later')) globalThis.shown ??= performance.now();
    }).observe(document.body, { subtree: true, childList: true })`);
  await page.hover('.tr:has-text("Title of old-0025")');
  workspace.put('tasks/pending/new.json', '{"description": "Came later", "dependencies": ["never"]}');
  await page.waitForSelector('.tr:has-text("Came later")');
  const ms = await page.evaluate<number>('shown - touched');
  assert.ok(ms >= 1990, `it came ${ms} ms after the last touch`);
});
