/** Large workspaces: the window loads and draws only the rows on the screen. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test as always, type TestContext } from 'node:test';
import type { TaskDetail, TaskSpans } from '../../src/web/base/contract.js';
import { place, type Place } from '../kit/guild.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { openWindow, SCRIPTED } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';

const test = sampleTests('web/many', 4);

const BOSS = '---\ndescription: Does it\n---\nYou are the boss.\n';
const START = Date.parse('2026-03-02T08:00:00.000Z');
const iso = (ms: number): string => new Date(START + ms).toISOString();

/** A root and its parts, each with this many model calls; an hour without work is between. */
function longRun(t: TestContext, parts: number, calls: number): Place {
  const workspace = place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': BOSS });
  const lines: string[] = [];
  const record = (id: string, more: object): void => {
    const task = { id, root: 'big', role: 'root', description: `The work of ${id}`, to: 'boss', created_at: iso(0) };
    const ended = { ended_at: iso(7_200_000), result: 'Done.', depth: 0, attempts: 1, version: 1 };
    const rest = { requirements: [], dependencies: [], context: {}, priority: 'C' };
    workspace.put(`tasks/completed/${id}.json`, JSON.stringify({ ...task, ...rest, ...ended, ...more }));
  };
  record('big', {});
  for (let part = 0; part < parts; part++) {
    const id = `big.part-${String(part).padStart(4, '0')}`;
    record(id, { parent: 'big', role: 'request' });
    for (let call = 0; call < calls; call++) {
      const at = iso((part * calls + call) * 2 + (part * 2 < parts ? 0 : 3_600_000));
      const usage = {
        model: 'm/x',
        role: 'request',
        turn: call + 1,
        calls: 0,
        input_tokens: 9,
        output_tokens: 1,
        ms: 1,
      };
      lines.push(JSON.stringify({ at, name: 'model.answered', task: id, agent: 'boss', ...usage, micro_usd: 1 }));
    }
  }
  workspace.put('events/2026-03-02.jsonl', `${lines.join('\n')}\n`);
  return workspace;
}

test('30,000 spans are merged by the server to what a screen can show, and a part is read finely', async (t) => {
  const window = await openWindow(t, longRun(t, 50, 600));
  const reply = await window.get('/api/tasks/big');
  const detail = reply.json<TaskDetail>();
  assert.equal(detail.isMerged, true);
  assert.equal(detail.tree.length, 51);
  const spans = detail.tree.flatMap((row) => row.spans);
  assert.equal(
    spans.reduce((sum, { n = 1 }) => sum + n, 0),
    30_000,
  );
  assert.ok(spans.length < 6000, `${spans.length} spans are sent`);
  const [from, to] = [START, START + 400];
  const fine = (await window.get(`/api/tasks/big/spans?from=${from}&to=${to}`)).json<TaskSpans>();
  assert.ok(fine.spans['big.part-0000']!.length >= 190, 'each call of the part is there');
  assert.equal((await window.get('/api/tasks/big/spans?from=x&to=1')).status, 422);
});

test('a waterfall of 600 tasks draws the rows on the screen, folds the gap, and zooms', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server, host } = await openWindow(t, longRun(t, 600, 8));
  const { page, faults } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/task/big`);
  await page.waitForSelector('.wfscroll .wfr');
  assert.ok((await page.locator('.wfscroll .wfr').count()) < 120);
  assert.equal(await page.locator('.foldmark').count(), 2, 'the hour between, and the hour after');
  await page.evaluate("document.querySelector('.wfscroll').scrollTop = 1e6");
  await page.waitForSelector('.wfr:has-text("big.part-0599")');
  const asked = page.waitForRequest(/\/api\/tasks\/big\/spans\?from=/);
  await page.keyboard.press('+');
  await asked;
  await page.keyboard.press('0');
  await page.keyboard.press('j');
  await page.waitForSelector('.wfr.sel:has-text("big.part-0000")');
  await page.keyboard.press('[');
  await page.waitForSelector('.wfr:has-text("big.part-0000")', { state: 'detached' });
  await page.keyboard.press(']');
  await page.waitForSelector('.wfr:has-text("big.part-0000")');
  const ticks = (): Promise<string[]> => page.locator('.ticks span').allTextContents();
  const whole = await ticks();
  await page.keyboard.press('+');
  await until(async () => String(await ticks()) !== String(whole));
  const middle = await ticks();
  await page.keyboard.press('ArrowRight');
  await until(async () => String(await ticks()) !== String(middle));
  const right = await ticks();
  await page.keyboard.press('ArrowLeft');
  await until(async () => String(await ticks()) !== String(right));
  await page.keyboard.press('0');
  await until(async () => String(await ticks()) === String(whole));
  assert.deepEqual(faults, []);
});

test('40 agents are drawn as a graph with the same content as a list, and 40 tasks are in the hall', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const files: Record<string, string> = { 'guild.yaml': SCRIPTED };
  for (let n = 0; n < 40; n++) {
    const next = n === 0 ? '' : `\nagents: [worker-${Math.floor((n - 1) / 2)}]`;
    files[`agents/worker-${n}.md`] = `---\ndescription: Number ${n}${next}\n---\nYou work.\n`;
    files[`tasks/pending/job-${n}.json`] = JSON.stringify({ description: `Job ${n}`, to: `worker-${n}` });
  }
  const { server, host } = await openWindow(t, place(t, files));
  const { page, faults } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/agents`);
  await page.click('button:text-is("Graph")');
  await page.waitForSelector('svg .nd');
  assert.equal(await page.locator('svg .nd').count(), 40);
  assert.equal(await page.locator('.edges li').count(), 39);
  await page.goto(`http://${host}/#/tasks?view=board`);
  await page.waitForSelector('.card');
  const below = await page.evaluate<number>(
    '(({ scrollHeight: all, clientHeight: seen }) => all - seen)(document.querySelector("main"))',
  );
  assert.equal(below, 0, 'each column of the board scrolls, and the page does not');
  await page.goto(`http://${host}/#/hall`);
  await page.waitForSelector('text=of 40 open');
  assert.deepEqual(faults, []);
});

test('tasks that are added above do not move the rows that a person reads', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = longRun(t, 600, 1);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/tasks`);
  await page.waitForSelector('.tr:not(.thead)');
  await page.evaluate("document.querySelector('.tscroll').scrollTop = 5000");
  const row = `(() => {
    const box = document.querySelector('.tscroll').getBoundingClientRect();
    return document.elementFromPoint(box.left + 200, box.top + 300).closest('.tr')?.textContent;
  })()`;
  await until(() => page.evaluate<boolean>(`${row} !== undefined`));
  const before = await page.evaluate<string>(row);
  for (let n = 0; n < 3; n++) workspace.put(`tasks/pending/new-${n}.json`, `{"description": "Fresh ${n}"}`);
  await page.waitForSelector('button:text-is("3 new")');
  assert.equal(await page.evaluate<string>(row), before);
  await page.click('button:text-is("3 new")');
  await page.waitForSelector('.tr:has-text("Fresh 0")');
  await page.waitForSelector('.fresh', { state: 'detached' });
});

test('the list of tasks draws the rows in sight and few more, wherever a person scrolls', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server, host } = await openWindow(t, longRun(t, 600, 1));
  const { page } = await showPage(browser, server.link());
  await page.goto(`http://${host}/#/tasks`);
  await page.waitForSelector('.tr:not(.thead)');
  const titles = new Set<string>();
  const top = await page.evaluate<number>("document.querySelector('.tall').offsetHeight");
  for (const at of [0, top / 3, top / 2, top]) {
    await page.evaluate(`document.querySelector('.tscroll').scrollTop = ${at}`);
    // Each position between the first and the last pixel of the box has its row, without a gap.
    await until(() =>
      page.evaluate<boolean>(`(() => {
        const box = document.querySelector('.tscroll').getBoundingClientRect();
        const places = Array.from({ length: 9 }, (_, n) => box.top + 2 + ((box.height - 4) * n) / 8);
        return places.every((y) => document.elementFromPoint(box.left + 200, y)?.closest('.tr') != null);
      })()`),
    );
    const drawn = await page.locator('.trows .tr .title').allTextContents();
    assert.ok(drawn.length < 80, `${drawn.length} rows`);
    for (const title of drawn) titles.add(title);
  }
  assert.ok(titles.size > 100, `${titles.size} rows were seen`);
});

/** Calls that touch a file or a folder, made by the server in this process. */
const CALLS = ['readdirSync', 'readFileSync', 'openSync', 'statSync', 'lstatSync', 'existsSync'] as const;

always('fifty windows that read the same change cost one read of the folder', async (t) => {
  const workspace = longRun(t, 40, 1);
  const window = await openWindow(t, workspace);
  let calls = 0;
  for (const name of CALLS) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    t.mock.method(fs, name, (...args: unknown[]) => (calls++, real.apply(fs, args)));
  }
  // Fewer requests than a browser may send in a second.
  const routes = ['hello', 'hall', 'agents'];
  let changes = 0;
  const cost = async (windows: number): Promise<number> => {
    const words = `Change ${++changes}`;
    workspace.put(`tasks/pending/change-${changes}.json`, JSON.stringify({ description: words }));
    await until(async () => (await window.get('/api/tasks')).text.includes(words));
    calls = 0;
    for (const route of routes) {
      const asked = Array.from({ length: windows }, () => window.get(`/api/${route}?change=${changes}`));
      assert.deepEqual(new Set((await Promise.all(asked)).map(({ status }) => status)), new Set([200]));
    }
    return calls;
  };
  const one = await cost(1);
  const fifty = await cost(50);
  assert.ok(one > 0, 'the calls are counted');
  assert.ok(fifty < one * 1.5, `${fifty} calls for fifty windows, ${one} for one`);
});

always('a query of open tasks looks at no file of an ended one', async (t) => {
  const window = await openWindow(t, longRun(t, 40, 1));
  let ended = 0;
  for (const name of CALLS) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    t.mock.method(fs, name, (...args: unknown[]) => {
      if (/completed.big/.test(String(args[0]))) ended++;
      return real.apply(fs, args);
    });
  }
  const count = async (where: string): Promise<number> => {
    ended = 0;
    await window.get(`/api/tasks?where=${encodeURIComponent(where)}`);
    return ended;
  };
  assert.ok((await count("state = 'completed'")) > 0, 'the calls are counted');
  assert.equal(await count("to = 'human' AND state IN ('pending', 'active', 'waiting')"), 0);
});
