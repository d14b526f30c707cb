/** Pages without data, pages whose data is on its way, and the phone. */
import assert from 'node:assert/strict';
import type { Route } from 'playwright-core';
import type { Hall } from '../../src/web/base/contract.js';
import { place, type Place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { squeezedTexts } from '../kit/web/browser.js';
import { opened } from '../kit/web/opened.js';
import { askingPlace, SCRIPTED } from '../kit/web/window.js';
import type { TestContext } from 'node:test';

const test = sampleTests('web/states', 3);

const BOSS = '---\ndescription: Does it\n---\nYou are the boss.\n';

/** A workspace in which nothing has happened. */
function newPlace(t: TestContext): Place {
  return place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': BOSS });
}

/** Every page that can be empty, and a word of where its content comes from. */
const EMPTY: Record<string, RegExp> = {
  hall: /tasks\/pending/,
  inbox: /tasks\/approvals\.task\.md/,
  tasks: /tasks\/pending/,
  'tasks?view=tree': /tasks\/pending/,
  'tasks?view=board': /tasks\/pending/,
  waits: /wait for tasks, agents, resources, budgets or you/,
  conversations: /sessions\//,
  boards: /tasks\/plan\.task\.md/,
  costs: /events\//,
  history: /first run|git/i,
  replay: /events/,
  machines: /guild watch/,
};

test('an empty page has an icon, one sentence, and where its content comes from', async (t) => {
  const shown = await opened(t, newPlace(t));
  if (shown === undefined) return;
  for (const [name, from] of Object.entries(EMPTY)) {
    await shown.go(name);
    const empty = shown.page.locator('main .empty:visible').first();
    await empty.waitFor();
    assert.equal(await empty.locator('svg').count(), 1, name);
    assert.match((await empty.locator('b').textContent())!, /^[A-Z][^.]+$/, name);
    assert.match((await empty.textContent())!, from, name);
  }
});

test('a filter that matches nothing is named, and cleared by a click', async (t) => {
  const workspace = newPlace(t);
  workspace.put('tasks/pending/one.json', '{"description": "The only one", "dependencies": ["never"]}');
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  for (const view of ['list', 'tree', 'board']) {
    await shown.go(`tasks?where=${encodeURIComponent("state = 'failed'")}&view=${view}`);
    const empty = shown.page.locator('main .empty');
    await empty.waitFor();
    assert.match((await empty.textContent())!, /No task matches.*state = 'failed'/, view);
    await empty.locator('a:text-is("Clear")').click();
    await shown.page.waitForSelector('main >> text=The only one');
    assert.equal(await empty.count(), 0, view);
  }
  await shown.go(`tasks?where=${encodeURIComponent('colour = 3')}`);
  await shown.page.waitForSelector('main .banner:has-text("no column")');
  assert.doesNotMatch((await shown.page.textContent('.qbar'))!, /of 1 task/, 'no count of another query');
});

test('a page that waits for its data shows nothing at first, then bars that hold still', async (t) => {
  const shown = await opened(t, await askingPlace(t));
  if (shown === undefined) return;
  const { page, window } = shown;
  const held: Route[] = [];
  let isHeld = true;
  await page.route('**/api/**', (route) => {
    if (isHeld && !route.request().url().includes('/api/stream')) held.push(route);
    else void route.continue();
  });
  await page.goto(`http://${window.host}/#/agents`);
  await page.waitForSelector('main .still', { state: 'attached' });
  const style = await page.evaluate<string[]>(`(() => {
    const still = document.querySelector('main .still');
    const { animationDelay, animationDuration } = getComputedStyle(still);
    return [animationDelay, animationDuration, getComputedStyle(still.firstElementChild).animationName];
  })()`);
  assert.deepEqual(style, ['0.2s', '0s', 'none']);
  await page.waitForSelector('main .still', { state: 'visible' });
  isHeld = false;
  for (const route of held.splice(0)) await route.continue();
  await page.waitForSelector('main >> text=boss');
  await page.goto(`http://${window.host}/#/inbox`);
  await page.waitForSelector('.abar');
  isHeld = true;
  await page.goto(`http://${window.host}/#/agents`);
  await page.waitForSelector('h1:text-is("Agents")');
  assert.ok(await page.isVisible('main >> text=boss'), 'what was seen stays until new data is there');
  await until(() => held.length > 0);
  isHeld = false;
  for (const route of held) await route.continue();
});

test('costs: calls that cost nothing are a sentence and no chart', async (t) => {
  const workspace = newPlace(t);
  const call = { at: new Date().toISOString(), name: 'model.answered', task: 'a', agent: 'boss', model: 'm/x' };
  workspace.put('events/a.jsonl', `${JSON.stringify({ ...call, micro_usd: 0, input_tokens: 9 })}\n`);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  await shown.go('costs');
  await shown.page.waitForSelector('.panel:has(h2:text-is("By day")) >> text=These model calls cost nothing');
  assert.equal(await shown.page.locator('.chart').count(), 0);
});

test('costs: the range and the grouping are chosen', async (t) => {
  const workspace = newPlace(t);
  const line = (daysAgo: number, agent: string): string => {
    const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const call = {
      at,
      name: 'model.answered',
      task: agent,
      agent,
      model: `m/${agent}`,
      micro_usd: 5000,
      input_tokens: 9,
    };
    return `${JSON.stringify(call)}\n`;
  };
  workspace.put('events/a.jsonl', line(20, 'older') + line(3, 'newer') + line(0, 'newest'));
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, go } = shown;
  await go('costs');
  const rows = async (): Promise<string[]> =>
    page.locator('table.tt').first().locator('td:first-child').allTextContents();
  const expected: [button: string, key: RegExp, rows: number][] = [
    ['14 days', /^m\//, 2],
    ['Month', /^m\//, 3],
    ['Day', /^m\/newest/, 1],
    ['Agent', /^newest/, 1],
  ];
  for (const [button, key, count] of expected) {
    await page.click(`.head button:text-is("${button}")`);
    await until(async () => {
      const keys = (await rows()).filter((text) => key.test(text));
      return keys.length === count && (await page.locator(`[aria-pressed=true]:text-is("${button}")`).count()) === 1;
    });
  }
});

test('agents: talk begins a task of the agent on this page', async (t) => {
  const workspace = newPlace(t);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  await shown.go('agents/boss');
  await shown.page.click('button:text-is("Graph")');
  await shown.page.waitForSelector('text=No agent has a fixed partner');
  await shown.page.click('button:has-text("Talk")');
  await shown.page.fill('[role=dialog][aria-label="Talk to boss"] textarea', 'Are you there?');
  await shown.page.keyboard.press('Control+Enter');
  const added = (): string[] => workspace.list('tasks/pending').map((name) => workspace.read(`tasks/pending/${name}`));
  await until(() => added().some((text) => text.includes('Are you there?') && text.includes('boss')));
  await workspace.guild('pump', '--all');
  await shown.page.click('.head a:has-text("Conversation")');
  await shown.page.waitForSelector('.msg:has-text("Are you there?")');
});

test('on a phone a request has buttons for a thumb, a diff in one column, and arrows to the next one', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [write_file]\n---\nYou are the boss.\n',
    'memory/a.md': 'one\ntwo\n',
    'script.yaml': '- turn: 1\n  call:\n    - write_file: {path: memory/a.md, content: "one\\nthree\\n"}\n',
  });
  await workspace.guild('run', 'boss', 'Begin');
  workspace.put('script.yaml', workspace.read('script.yaml').replace('three', 'four'));
  await workspace.guild('run', 'boss', 'Begin again');
  const shown = await opened(t, workspace, 390);
  if (shown === undefined) return;
  const { page, go } = shown;
  await go('inbox');
  await page.waitForSelector('.abar');
  for (const name of ['Approve', 'Reject', 'Edit']) {
    const box = (await page.locator(`.abar button:has-text("${name}")`).boundingBox())!;
    assert.ok(box.height >= 44 && box.width >= 44, `${name} has ${box.width} x ${box.height}`);
  }
  assert.deepEqual(await squeezedTexts(page), []);
  assert.ok(await page.isVisible('.uni'), 'one column');
  assert.ok(!(await page.isVisible('.two')));
  for (const label of ['Next request', 'Previous request']) {
    const box = (await page.getByLabel(label).boundingBox())!;
    assert.ok(box.height >= 44 && box.width >= 44, `${label} has ${box.width} x ${box.height}`);
  }
  await page.getByLabel('Next request').click();
  await page.waitForSelector('.crumb:has-text("2 of 2")');
  await page.getByLabel('Previous request').click();
  await page.waitForSelector('.crumb:has-text("1 of 2")');
  const more = page.locator('.more a:has-text("Costs")');
  await page.click('.tabbar button:has-text("More")');
  await more.waitFor();
  await page.click('.idetail h2');
  await more.waitFor({ state: 'detached' });
  await page.click('.tabbar button:has-text("More")');
  await more.click();
  await page.waitForSelector('h1:has-text("Costs")');
  assert.equal(await more.count(), 0, 'a click on it or beside it closes the sheet');
});

const WRONG_BOARD = `# Plan

## TODO

- [q] Paint the door @boss
- [ ] Sweep the hall @boss
  id: same
- [ ] Sweep the yard @boss
  id: same
- [ ] Lock up @boss
`;

test('a board has each problem below its line, until the file is repaired', async (t) => {
  const workspace = newPlace(t);
  workspace.put('tasks/plan.task.md', WRONG_BOARD);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, go } = shown;
  await go('boards');
  await page.waitForSelector('text=3 lines have a problem');
  await page.waitForSelector('.board div:has(.box:has-text("Paint the door")) .wrong:has-text("[q] is not a box")');
  const double = page.locator('.board div:has(.field:has-text("same")) .wrong');
  assert.match((await double.first().textContent())!, /the id same is also used in line 8.*another id/);
  assert.equal(await double.count(), 2);
  // A click on the box is an answer: it is done.
  await page.click('.tick:text-is("q")');
  await until(() => workspace.read('tasks/plan.task.md').includes('- [x] Paint the door'));
  workspace.put('tasks/plan.task.md', workspace.read('tasks/plan.task.md').replace('id: same', 'id: other'));
  await page.waitForSelector('.wrong', { state: 'detached' });
  workspace.put('tasks/plan.task.md', '# Plan\n\n- [q] Paint the door @boss\n');
  await page.waitForSelector('.wrong:has-text("without a ## TODO heading")');
  workspace.put('tasks/plan.task.md', '# Plan\n\n## TODO\n\n- [ ] Paint the door @nobody_here\n');
  await page.waitForSelector('.board div:has(.box) .wrong:has-text("there is no agent nobody_here")');
});

test('hall: the bars of the spending are hours of today, like the sum below them', async (t) => {
  const shown = await opened(t, newPlace(t));
  if (shown === undefined) return;
  const { spend } = (await shown.window.get('/api/hall')).json<Hall>();
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  assert.ok(spend.since >= midnight.toISOString(), spend.since);
  assert.equal(spend.hours.length, Math.min(12, new Date(shown.window.hello.now).getHours() + 1));
  assert.equal(await shown.page.locator('svg.bars rect').count(), spend.hours.length);
});
