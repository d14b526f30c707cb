/** Every page can show a moment of the past, from the same reads as the present. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type {
  AgentList,
  Conversation,
  Hall,
  Requests,
  TaskBoard,
  TaskDetail,
  TaskPage,
  Waits,
} from '../../src/web/base/contract.js';
import { place, ROOT, type Place } from '../kit/guild.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { askingPlace, openWindow, type Window } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('web/past', 4);

/** Three agents that waited for each other; the program broke the cycle, and all has ended. */
async function deadlocked(t: TestContext, mode = 'hierarchical'): Promise<Place> {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples', 'deadlock'), workspace.root, { recursive: true });
  workspace.put('guild.yaml', workspace.read('guild.yaml').replace('mode: hierarchical', `mode: ${mode}`));
  await workspace.guild('pump', '--all');
  return workspace;
}

/** A moment is a millisecond. A story that ends its cycle within the same one is played again. */
async function windowAfterDeadlock(t: TestContext): Promise<Window> {
  for (let tries = 1; ; tries++) {
    const window = await openWindow(t, await deadlocked(t));
    const { broken } = (await window.get('/api/waits')).json<Waits>();
    const { rows } = (await window.get(`/api/tasks?where=${encodeURIComponent("state = 'failed'")}`)).json<TaskPage>();
    if (rows.every(({ endedAt }) => endedAt! > broken[0]!.closedAt) || tries === 5) return window;
  }
}

test('a deadlock is a cycle of three tasks at its moment, and nothing now', async (t) => {
  const window = await windowAfterDeadlock(t);
  const now = (await window.get('/api/waits')).json<Waits>();
  assert.deepEqual(now.edges, []);
  const [broken] = now.broken;
  assert.deepEqual(broken!.cycle.map(({ agent }) => agent).sort(), ['analyst', 'coder', 'reviewer']);
  assert.equal(broken!.cycle.filter(({ gaveWay }) => gaveWay).length, 1);
  assert.ok(broken!.closedAt <= broken!.at);
  const priorities = Object.fromEntries(broken!.cycle.map(({ agent, priority }) => [agent, priority]));
  assert.deepEqual(priorities, { coder: 'A', analyst: 'B', reviewer: 'C' });
  const then = (await window.get(`/api/waits?at=${broken!.closedAt}`)).json<Waits>();
  assert.deepEqual(then.nodes.map(({ agent }) => agent).sort(), ['analyst', 'coder', 'reviewer']);
  assert.equal(then.edges.length, 3);
  assert.ok(then.edges.every(({ inCycle }) => inCycle));
  assert.deepEqual(then.edges.map(({ label }) => label).sort(), ['needs approval', 'needs data', 'needs data']);
  const deadlocks = async (at: string): Promise<number> =>
    (await window.get(`/api/hall${at}`)).json<Hall>().deadlocks.now;
  assert.equal(await deadlocks(`?at=${broken!.closedAt}`), 1, 'the hall counts it while it lasts');
  assert.equal(await deadlocks(''), 0);
});

test('a deadlock that was broken within a millisecond is a cycle of three at its moment', async (t) => {
  const workspace = await deadlocked(t);
  const log = `events/${workspace.list('events')[0]!}`;
  const events = workspace
    .read(log)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  const { at: brokenAt, cancelled } = events.find(({ name }) => name === 'deadlock.broken')!;
  const [, closedAt] = /"closedAt":"([^"]+)"/.exec((await (await openWindow(t, workspace)).get('/api/waits')).text)!;
  const ended = `tasks/failed/${cancelled}.json`;
  const { ended_at: endedAt } = JSON.parse(workspace.read(ended)) as { ended_at: string };
  for (const file of [ended, log])
    workspace.put(file, workspace.read(file).replaceAll(endedAt, closedAt!).replaceAll(brokenAt!, closedAt!));
  const then = (await (await openWindow(t, workspace)).get(`/api/waits?at=${closedAt}`)).json<Waits>();
  assert.deepEqual(then.nodes.map(({ agent }) => agent).sort(), ['analyst', 'coder', 'reviewer']);
  assert.deepEqual(
    then.edges.map(({ inCycle }) => inCycle),
    [true, true, true],
  );
});

test('where the first wait gives way, priorities had no part in it', async (t) => {
  const workspace = await deadlocked(t, 'mesh');
  const { broken } = (await (await openWindow(t, workspace)).get('/api/waits')).json<Waits>();
  assert.equal(broken.length, 1);
  assert.deepEqual(
    broken[0]!.cycle.map(({ priority }) => priority),
    [undefined, undefined, undefined],
  );
});

test('lists, agents, costs and tasks show the chosen moment', async (t) => {
  const window = await windowAfterDeadlock(t);
  const { broken } = (await window.get('/api/waits')).json<Waits>();
  const at = broken[0]!.closedAt;
  const board = (await window.get(`/api/board?at=${at}`)).json<TaskBoard>();
  const totals = Object.fromEntries(board.columns.map(({ state, total }) => [state, total]));
  assert.deepEqual(totals, { pending: 3, active: 0, waiting: 6, you: 0, completed: 0, failed: 0 });
  const open = (await window.get(`/api/tasks?at=${at}&where=${encodeURIComponent("state = 'completed'")}`)).text;
  assert.match(open, /"total":0/);
  const { agents } = (await window.get(`/api/agents?at=${at}`)).json<AgentList>();
  assert.deepEqual([...new Set(agents.map(({ state }) => state))], ['blocked']);
  assert.ok(
    agents.every(({ why }) => !why.includes('.call-')),
    'titles, not ids',
  );
  const hall = (await window.get(`/api/hall?at=${at}`)).json<Hall>();
  const today = (await window.get('/api/hall')).json<Hall>();
  assert.equal(hall.ended.length, 0);
  assert.ok(hall.spend.microUsd > 0 && hall.spend.microUsd < today.spend.microUsd);
  const task = (await window.get(`/api/tasks/chart?at=${at}`)).json<TaskDetail>();
  assert.equal(task.row.state, 'waiting');
  assert.equal(task.result, undefined);
  assert.deepEqual(task.can, [], 'nothing can be done in the past');
  const talk = (await window.get(`/api/sessions/coder?at=${at}`)).json<Conversation>();
  const whole = (await window.get('/api/sessions/coder')).json<Conversation>();
  assert.ok(talk.total > 0 && talk.total < whole.total);
  assert.equal(talk.agentNow?.state, 'blocked', 'as it was then');
  assert.notEqual(whole.agentNow?.state, 'blocked');
  const before = '2020-01-01T00:00:00.000Z';
  assert.equal((await window.get(`/api/tasks/chart?at=${before}`)).status, 404);
  assert.equal((await window.get('/api/hall?at=yesterday')).status, 422);
});

/** Three boxes around the name of the cycle, none on another, and each step in the list. */
async function cycleIsRing(page: Page): Promise<void> {
  await page.waitForSelector('svg .ring >> text=Cycle of 3');
  const boxes = await Promise.all((await page.locator('svg .nd.cyc .node').all()).map((node) => node.boundingBox()));
  const name = (await page.locator('svg .ring').boundingBox())!;
  const all = [...boxes.map((box) => box!), name];
  assert.equal(all.length, 4);
  for (const [i, a] of all.entries())
    for (const b of all.slice(i + 1))
      assert.ok(
        a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y,
        `${JSON.stringify(a)} lies on ${JSON.stringify(b)}`,
      );
  const steps = await page.locator('table.waits tbody tr td:nth-child(6)').allTextContents();
  assert.deepEqual(steps.map((step) => step.slice(0, 6)).sort(), ['1 of 3', '2 of 3', '3 of 3']);
  assert.equal(steps.filter((step) => step.endsWith('gave way')).length, 1);
}

test('an answered request is open at the moment before its answer', async (t) => {
  const workspace = await askingPlace(t);
  const asked = new Date().toISOString();
  const window = await openWindow(t, workspace);
  const { open } = (await window.get('/api/requests')).json<Requests>();
  await window.send('request.reject', open[0]!.id, {}, open[0]!.seen);
  await workspace.guild('pump', '--all');
  assert.equal((await window.get('/api/requests?now')).json<Requests>().open.length, 0);
  const then = (await window.get(`/api/requests?at=${asked}`)).json<Requests>();
  assert.deepEqual(
    then.open.map(({ id, seen }) => ({ id, seen })),
    open.map(({ id, seen }) => ({ id, seen })),
  );
});

test('pages keep the moment until the person goes back to now, and send nothing meanwhile', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server, host } = await openWindow(t, await deadlocked(t));
  const { page, faults } = await showPage(browser, server.link());
  const go = (name: string): Promise<unknown> => page.evaluate(`location.hash = '#/${name}'`);
  await page.goto(`http://${host}/#/waits`);
  await page.click('button:has-text("Step through")');
  await page.waitForSelector('text=Nobody waited then');
  await page.keyboard.press('.');
  await page.waitForSelector('svg .nd');
  await page.click('[aria-label="Which moment"] button >> nth=0');
  await page.waitForSelector('svg .nd.cyc');
  await cycleIsRing(page);
  const words = await page.locator('.words p').all();
  const chips = await Promise.all(words.map((line) => line.locator('.chip').allTextContents()));
  const trimmed = chips.map((line) => line.map((text) => text.trim())).sort();
  assert.deepEqual(trimmed, [['Critical'], ['High'], ['Normal', 'Gave way']]);
  await go('hall');
  await page.waitForSelector('.pastbar');
  await page.waitForSelector('text=3 blocked');
  assert.ok(await page.isDisabled('button:has-text("New task")'));
  await go('tasks');
  await page.waitForSelector('.tr:has-text("Waiting")');
  assert.equal(await page.locator('.tr:has-text("Completed")').count(), 0);
  await page.click('text=Back to now');
  await page.waitForSelector('.tr:has-text("Completed")');
  assert.equal(await page.locator('.pastbar').count(), 0);
  await go('replay/chart');
  await page.waitForSelector('.wfr');
  await page.focus('input[type=range]');
  await page.keyboard.press('Home');
  await page.waitForSelector('text=All pages show this moment');
  await page.keyboard.press('End');
  await page.waitForSelector('.story li:has-text("completed")');
  assert.deepEqual(faults, []);
});
