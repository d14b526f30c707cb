/**
 * The window shows a request that came with the folder, before a process has asked again: none of
 * its words are drawn, and it cannot be answered.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRequest } from '../../../src/domain/task/approval.js';
import type { Task } from '../../../src/domain/task/task.js';
import { withDigest } from '../../../src/engine/approvals/request.js';
import type { Hall, Requests } from '../../../src/web/base/contract.js';
import type { Place } from '../../kit/guild.js';
import { openBrowser, showPage } from '../../kit/web/browser.js';
import { askingPlace, openWindow } from '../../kit/web/window.js';

const FORGED = /harmless|weather|mallory/;

/** Returns the id and the digest of the forged request. */
function forge(home: Place): { id: string; seen: string } {
  const name = home.list('tasks/pending').find((each) => each.includes('.call-'))!;
  const task = JSON.parse(home.read(`tasks/pending/${name}`)) as Task;
  const { digest: _, ...request } = task.context['request'] as ApprovalRequest;
  const words = { title: 'Approve weather', reasons: ['it is harmless'], diff: '+ harmless', agent: 'mallory' };
  const forged = withDigest({ ...request, ...words });
  const context = { ...task.context, request: forged };
  home.put(`tasks/pending/${name}`, JSON.stringify({ ...task, description: words.title, context }));
  return { id: task.id, seen: forged.digest };
}

test('a forged request is shown as foreign, without its words, and no answer to it is accepted', async (t) => {
  const home = await askingPlace(t);
  const { id, seen } = forge(home);
  const window = await openWindow(t, home);
  const listed = await window.get('/api/requests');
  const [request] = listed.json<Requests>().open;
  assert.equal(request!.isForeign, true);
  assert.match(request!.action.text, /asked again, in the program’s own words/);
  const hall = await window.get('/api/hall');
  assert.equal(hall.json<Hall>().waiting.first[0]!.isForeign, true);
  const source = await window.get(`/api/requests/${id}`);
  for (const { text } of [listed, hall, source]) assert.doesNotMatch(text, FORGED);
  for (const kind of ['approve', 'always', 'edit', 'reject'])
    assert.equal((await window.send(`request.${kind}`, id, { text: 'x' }, seen)).status, 409, kind);
  assert.deepEqual(home.list('.guild/intents'), []);
  const { root } = JSON.parse(home.read(`tasks/pending/${id}.json`)) as Task;
  const lists = [
    '/api/waits',
    '/api/tasks',
    `/api/replay/${root}`,
    ...[id, root].flatMap((each) => [`/api/tasks/${each}`, `/api/tasks/${each}/why`]),
  ];
  for (const place of lists) {
    const { status, text } = await window.get(place);
    assert.equal(status, 200, place);
    assert.doesNotMatch(text, FORGED, place);
  }
  await home.guild('pump');
  const [again] = (await window.get('/api/requests?again')).json<Requests>().open;
  assert.equal(again!.isForeign, undefined, 'after a pass it is there in the program’s words');
  assert.match(again!.title, /^Approve command: touch made\.txt/);
});

test('the page of a forged request has no button that allows it', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const home = await askingPlace(t);
  forge(home);
  const { server } = await openWindow(t, home);
  const { page, faults } = await showPage(browser, server.link());
  await page.evaluate(`location.hash = '#/inbox'`);
  await page.waitForSelector('.idetail');
  const text = await page.locator('.inbox').innerText();
  assert.match(text, /not made on this machine/);
  assert.doesNotMatch(text, FORGED);
  assert.equal(
    await page
      .locator('.idetail')
      .getByRole('button', { name: /approve|always|edit|reject/i })
      .count(),
    0,
  );
  await page.keyboard.press('y');
  await page.keyboard.press('Enter');
  assert.deepEqual(home.list('.guild/intents'), []);
  assert.deepEqual(faults, []);
});
