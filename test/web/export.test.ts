/** An exported run is one file that connects to nothing and leaves out what came from outside. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openBrowser } from '../kit/web/browser.js';
import { succeeds } from '../kit/guild.js';
import { askingPlace } from '../kit/web/window.js';

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
  await page.click('.srow a');
  await page.waitForSelector('.fold summary');
  assert.deepEqual(
    asked.filter((url) => !url.startsWith('file:')),
    [],
  );
  assert.deepEqual(faults, []);
});
