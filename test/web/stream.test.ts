/**
 * The stream: a window that was away catches up, reads no more than it must, and misses nothing.
 */
import assert from 'node:assert/strict';
import { attempt } from '../../src/domain/attempt.js';
import http from 'node:http';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Hello } from '../../src/web/base/contract.js';
import { succeeds, type Place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { askingPlace, openWindow, type Window } from '../kit/web/window.js';

const test = sampleTests('web/stream', 3);

/** The frames up to the first that has this event. */
function frames({ server, host, cookie, hello }: Window, since: string, last: string): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    const headers = { host, cookie, 'x-guild-csrf': hello.csrf };
    const path = `/api/stream?since=${encodeURIComponent(since)}`;
    let text = '';
    const request = http.get({ agent: false, host: '127.0.0.1', port: server.port, path, headers }, (reply) => {
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        const seen = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event, data]) => [event!, data!]);
        if (!seen.some(([event]) => event === last)) return;
        request.destroy();
        resolve(seen as [string, string][]);
      });
    });
    request.on('error', reject);
  });
}

test('a reader that names its cursor hears of a change only if it missed one', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const cursor = async (): Promise<string> => (await window.get('/api/hello')).json<Hello>().cursor;
  /**
   * Frames read while nothing changed. A file that was just written may be reported twice, so the
   * read is repeated until the cursor stays the same.
   */
  const framesAt = (since: (now: string) => string): Promise<{ now: string; seen: [string, string][] }> =>
    until(async () => {
      const now = await cursor();
      const seen = await frames(window, since(now), 'turns');
      return (await cursor()) === now ? { now, seen } : undefined;
    });
  const events = async (since: (now: string) => string): Promise<string[]> =>
    (await framesAt(since)).seen.map(([event]) => event);
  assert.deepEqual(await events((now) => now), ['beat', 'turns']);
  assert.deepEqual(await events(() => ''), ['reset', 'beat', 'turns']);
  assert.deepEqual(await events(() => '0000.1'), ['reset', 'beat', 'turns'], 'a cursor of another start');
  const before = await cursor();
  workspace.put('tasks/pending/one.json', '{"description": "New", "dependencies": ["never"]}');
  await until(async () => (await cursor()) !== before);
  const missed = await framesAt(() => before);
  assert.deepEqual(
    missed.seen.map(([event]) => event),
    ['changed', 'beat', 'turns'],
  );
  assert.equal((JSON.parse(missed.seen[0]![1]) as { cursor: string }).cursor, missed.now);
});

interface Opened {
  page: Page;
  window: Window;
  workspace: Place;
  /** Paths that the page asked for since the last call. */
  asked: () => string[];
}

async function opened(t: TestContext, place: string): Promise<Opened | undefined> {
  const browser = await openBrowser(t);
  if (browser === undefined) return undefined;
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link());
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.goto(`http://${window.host}/#/${place}`);
  return { page, window, workspace, asked: () => paths.splice(0) };
}

/** As when the machine wakes up: the page does not trust its connection. */
const WAKE = "dispatchEvent(new Event('online'))";

test('a reconnect after which nothing has changed reads nothing again', async (t) => {
  const shown = await opened(t, 'inbox');
  if (shown === undefined) return;
  const { page, asked } = shown;
  await page.waitForSelector('text=1 waiting');
  // The first round lets the page finish its initial reads.
  for (let n = 0; n < 2; n++) {
    asked();
    const beat = page.waitForResponse(/\/api\/stream/);
    await page.evaluate(WAKE);
    await beat;
    await page.waitForSelector('.live');
    await page.evaluate("fetch('/assets/none')");
  }
  assert.deepEqual(asked(), ['/api/stream', '/assets/none']);
});

test('a page that slept shows a request that was made meanwhile', async (t) => {
  const shown = await opened(t, 'inbox');
  if (shown === undefined) return;
  const { page, workspace } = shown;
  await page.waitForSelector('text=1 waiting');
  const debug = await page.context().newCDPSession(page);
  await debug.send('Page.setWebLifecycleState', { state: 'frozen' });
  await workspace.guild('run', 'boss', 'Begin once more');
  await debug.send('Page.setWebLifecycleState', { state: 'active' });
  await page.evaluate(WAKE);
  await page.waitForSelector('text=2 waiting');
});

test('a hidden page reads only its counts, and everything when it is seen again', async (t) => {
  const shown = await opened(t, 'inbox');
  if (shown === undefined) return;
  const { page, workspace, asked } = shown;
  await page.waitForSelector('text=1 waiting');
  assert.match(await page.title(), /^\(1\) .* · Guildhall$/);
  const look = (state: string): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await look('hidden');
  asked();
  await workspace.guild('run', 'boss', 'Begin once more');
  await until(async () => (await page.title()).startsWith('(2) '));
  assert.deepEqual(new Set(asked()), new Set(['/api/hello']));
  await look('visible');
  await page.waitForSelector('text=2 waiting');
});

test('a second browser sees what the first one did', async (t) => {
  const shown = await opened(t, 'inbox');
  if (shown === undefined) return;
  const { page, window, workspace } = shown;
  const { page: other } = await showPage(page.context().browser()!, window.server.link());
  await other.goto(`http://${window.host}/#/inbox`);
  await other.waitForSelector('text=1 waiting');
  await page.waitForSelector('.abar .btn.pri:enabled');
  await page.keyboard.press('y');
  await until(() => workspace.list('.guild/intents').length === 1);
  await workspace.guild('pump', '--all');
  await other.waitForSelector('text=Nothing waits for you');
});

test('a window shows what an undo of the history left', async (t) => {
  const shown = await opened(t, 'tasks');
  if (shown === undefined) return;
  const { page, window, workspace } = shown;
  const [before] = JSON.parse((await workspace.guild('log', '--json')).out) as { id: string }[];
  workspace.put('tasks/pending/later.json', '{"description": "Made after the commit", "dependencies": ["never"]}');
  await workspace.guild('pump', '--all');
  await page.waitForSelector('.tr:has-text("Made after the commit")');
  succeeds(await workspace.guild('undo', before!.id, '--yes'));
  await page.waitForSelector('.tr:has-text("Made after the commit")', { state: 'detached' });
  assert.ok(!(await window.get('/api/tasks')).text.includes('Made after the commit'));
});

test('a window that lost its server to kill -9 goes on when there is one again', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const serve = async (): Promise<{ url: string; kill: () => Promise<unknown> }> => {
    const { child, ended, says } = workspace.spawn('ui', '--no-work', '--json');
    return { url: await says(/"url": ?"([^"]+)"/), kill: () => (child.kill('SIGKILL'), ended) };
  };
  const first = await serve();
  const { page } = await showPage(browser, first.url);
  await page.goto(`${page.url().split('#')[0]}#/tasks`);
  await page.waitForSelector('.tr.on');
  await first.kill();
  await page.waitForSelector('text=Not live');
  workspace.put('tasks/pending/later.json', '{"description": "Made meanwhile", "dependencies": ["never"]}');
  const second = await serve();
  await page.waitForSelector('.tr:has-text("Made meanwhile")');
  await page.waitForSelector('.live');
  await second.kill();
});

test('the worker of a window that was killed with kill -9 ends, too', async (t) => {
  const workspace = await askingPlace(t);
  const window = workspace.spawn('ui', '--json');
  const worker = Number(await window.says(/"worker": ?(\d+)/));
  t.after(() => isAlive(worker) && process.kill(worker, 'SIGKILL'));
  assert.ok(isAlive(worker));
  window.child.kill('SIGKILL');
  await until(() => !isAlive(worker));
});

function isAlive(pid: number): boolean {
  return attempt(() => process.kill(pid, 0), false);
}
