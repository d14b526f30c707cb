/** Work under way and done: budgets, bids, teams, checks, costs, thoughts and undo. */
import assert from 'node:assert/strict';
import type { Bids, Conversation, Hello, TaskDetail } from '../../src/web/base/contract.js';
import { succeeds } from '../kit/guild.js';
import { scene } from '../kit/web/scene.js';
import { askingPlace, openWindow, SCRIPTED } from '../kit/web/window.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';
import { opened, type Opened } from '../kit/web/opened.js';

const test = sampleTests('web, a scene', 4, 0);

test('budgets, bids, teams, checks and costs of real work are on their pages', async (t) => {
  const { workspace } = await scene(t);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  await t.test('the top bar and the hall show today against what it can cost', () => budgets(shown));
  await t.test('a process has the tasks that it works on', () => machines(shown));
  await t.test('a conversation has the state of its task', () => conversations(shown));
  await t.test('a conversation has the state of its agent beside it', () => besideConversation(shown));
  await t.test('each state of a task and of an agent has its own word and icon', () => states(shown));
  await t.test('each offer has its bids, and the winner first', () => bids(shown));
  await t.test('bids on one task are one row of its run, and attempts have numbers', () => runRows(shown));
  await t.test('a team is a frame around its members', () => teams(shown));
  await t.test('a check is a line between two messages', () => checks(shown));
  await t.test('a message names who asked, also in a fork', () => authors(shown));
  await t.test('the tree of a run has costs that add up', () => costs(shown));
});

async function budgets({ page, window, workspace, go }: Opened): Promise<void> {
  const { spend } = (await window.get('/api/hello')).json<Hello>();
  const { limit, reserved, tasks } = spend.budget!;
  assert.ok(tasks > 1, 'several tasks are open');
  assert.ok(
    limit > spend.microUsd && limit <= spend.microUsd + tasks * 1e6 + 1,
    `${limit} is the most of ${tasks} tasks`,
  );
  assert.ok(reserved <= limit - spend.microUsd);
  await go('hall');
  const bar = page.locator('.top .today');
  assert.match((await bar.textContent())!, /^Today \$0\.\d{4} of \$\d+\.\d{2}$/);
  const part = await page.evaluate<number>(`(() => {
    const use = document.querySelector('.top .use');
    return use.firstElementChild.offsetWidth / use.offsetWidth;
  })()`);
  assert.ok(Math.abs(part - spend.microUsd / limit) < 0.02, `${part} of the bar is filled`);
  await page.waitForSelector('.panel:has(h2:text-is("Spending today")) >> text=at most');
  await page.waitForSelector('.fig:has-text("Spent today") >> text=/\\d+% of \\$/');
  workspace.put('guild.yaml', workspace.read('guild.yaml').replace('usd: 1.00', 'usd: 2.00'));
  await until(async () => (await window.get('/api/hello')).json<Hello>().spend.budget!.limit > limit);
}

async function machines({ page, go }: Opened): Promise<void> {
  await go('machines');
  await page.waitForSelector('.panel:has-text("1 task") >> text=Type the invitation for the first Sunday');
}

async function conversations({ page, go }: Opened): Promise<void> {
  await go('conversations');
  await page.waitForSelector('.crow:has-text("planner"):has-text("Can you check") >> text=Waiting');
}

/** Beside a conversation: what its agent does now, whichever task that is about. */
async function besideConversation({ page, window, workspace, go }: Opened): Promise<void> {
  const of = (agent: string): string =>
    workspace
      .list('sessions')
      .find((name) => name.startsWith(`${agent}-`) || name === `${agent}.session.yaml`)!
      .replace('.session.yaml', '');
  await go(`conversation/${of('typist')}`);
  const agent = page.locator('.facts dl > div', { hasText: 'Agent' });
  await agent.locator('.chip:has-text("Working")').waitFor();
  assert.match((await agent.textContent())!, /Types what others dictate/);
  await go(`conversation/${of('keeper')}`);
  await agent.locator('.chip:has-text("Blocked")').waitFor();
  assert.match((await agent.textContent())!, /waits for you \(“Approve write_file/);
  await workspace.guild('agent', 'pause', 'keeper', 'gone for lunch');
  await agent.locator('.chip:has-text("Paused")').waitFor();
  assert.match((await agent.textContent())!, /gone for lunch/);
  await workspace.guild('agent', 'resume', 'keeper');
  const talk = (await window.get(`/api/sessions/${of('keeper')}`)).json<Conversation>();
  assert.equal(talk.agentNow?.description, 'Keeps the notes of the office true');
}

/** An agent sends its own stages to itself; people want to know who asked. */
async function authors({ page, window, workspace, go }: Opened): Promise<void> {
  const sessions = workspace.list('sessions').map((name) => name.replace('.session.yaml', ''));
  const [whole, part] = [/^breakdown-build_user_api\.work$/, /routes\.work$/].map((name) =>
    sessions.find((session) => name.test(session)),
  );
  const names = (): Promise<string[]> => page.locator('.msg.in .who b').allTextContents();
  await go(`conversation/${whole}`);
  await page.waitForSelector('.msg');
  assert.equal((await names())[0], 'You');
  await go(`conversation/${part}`);
  await page.waitForSelector('.msg:has-text("Goal check")');
  assert.deepEqual(await names(), ['breakdown', 'Goal check']);
  const forked = await window.send('task.fork', part!, { at: 5, text: 'Use Flask instead.' });
  const { made } = forked.json<{ made: { session: string } }>();
  await go(`conversation/${made.session}`);
  await page.waitForSelector('.msg.in:has-text("Use Flask instead.")');
  assert.deepEqual(await names(), ['breakdown', 'Goal check', 'You']);
}

const STATES = {
  tasks: ['Pending', 'Active', 'Waiting', 'Needs you', 'Completed', 'Failed', 'Cancelled'],
  agents: ['Idle', 'Working', 'Blocked', 'Free', 'Complete', 'Error', 'Paused'],
};

const CHIPS =
  "[...document.querySelectorAll('main .chip:has(svg)')].map((chip) => [chip.textContent, chip.querySelector('svg').innerHTML])";

async function states({ page, go }: Opened): Promise<void> {
  for (const [name, words] of Object.entries(STATES)) {
    await go(name);
    await page.waitForSelector('main .chip');
    const icons = new Map<string, string>();
    // The list draws only the rows on the screen.
    for (let top = 0; words.some((word) => !icons.has(word)); top = (top + 500) % 3000) {
      await page.evaluate(`document.querySelector('.tscroll')?.scrollTo(0, ${top})`);
      for (const [word, icon] of await page.evaluate<[string, string][]>(CHIPS)) icons.set(word, icon);
    }
    assert.equal(new Set(words.map((word) => icons.get(word))).size, words.length, 'each has an icon of its own');
  }
}

async function runRows({ page, go }: Opened): Promise<void> {
  await go('task/build_user_api');
  const group = page.locator('.wfr', { hasText: '4 bids: breakdown 9, file 5; 2 declined' });
  await group.waitFor();
  await page.waitForSelector('.fig:has-text("Certified") >> text=nothing open, unread or half done; the only process');
  const single = page.locator('.wfr', { hasText: 'Bid: 9 of 10' });
  assert.equal(await single.count(), 0, 'the bids are folded');
  await group.locator('button').click();
  await single.first().waitFor();
  await page.waitForSelector('.wfr:has-text("Attempt 2")');
  await page.waitForSelector('.wfr:has-text("Check: no") .chip.s-fail:has-text("The check says no")');
  await page.waitForSelector('.wfr:has-text("Check: yes") .chip.s-done:has-text("Completed")');
  await page.waitForSelector('.wfr:has-text("4 bids") .cap:text-is("breakdown wins")');
  await page.waitForSelector('.wfr:has-text("Check: no") .cap:text-is("sent back")');
  assert.equal(await page.locator('.wfr:has-text("Check: yes") .cap').count(), 0, 'a yes needs no words');
  const times = await page.locator('.ticks span').allTextContents();
  assert.ok(times.length > 2 && times.every((text) => /^\d+(\.\d)? s$/.test(text)), times.join());
  await page.click('button:text-is("Files")');
  assert.equal(await page.locator('.files li:has-text("and others")').count(), 0, 'a group has no file');
}

async function bids({ page, window, go }: Opened): Promise<void> {
  const { offers } = (await window.get('/api/bids')).json<Bids>();
  const api = offers.find(({ task }) => task.id === 'build_user_api')!;
  assert.deepEqual(api.bids.map(({ agent, verdict }) => [agent, verdict]).slice(0, 2), [
    ['breakdown', 'awarded'],
    ['file', 'below'],
  ]);
  await go('agents');
  await page.click('button:text-is("Bids")');
  const run = page.locator('.panel:has(h2:has-text("Build a REST API for user management"))');
  await run.locator('.offer').first().waitFor();
  assert.equal(await run.locator('.offer').count(), offers.filter(({ run: { id } }) => id === 'build_user_api').length);
  const offer = run.locator('.offer:has(summary:has-text("Build a REST API for user management"))');
  assert.match((await offer.locator('.bidrow').first().textContent())!, /awarded.*breakdown.*I can divide it/);
  assert.equal(await offer.locator('.bidrow').count(), 4);
}

async function teams({ page, go }: Opened): Promise<void> {
  await go('agents');
  await page.click('button:text-is("Graph")');
  const frame = page.locator('svg .team');
  await frame.waitFor();
  assert.match((await frame.textContent())!, /at most 4 rounds.*team: until all agree/s);
  const outer = (await frame.locator('rect').boundingBox())!;
  const heights: number[] = [];
  for (const name of ['writer', 'analyst']) {
    const inner = (await page.locator(`svg .nd:has(title:text-is("${name}")) rect`).boundingBox())!;
    heights.push(inner.y, inner.y + inner.height);
    assert.ok(inner.x > outer.x && inner.x + inner.width < outer.x + outer.width, `${name} is inside`);
    assert.ok(inner.y > outer.y && inner.y + inner.height < outer.y + outer.height, `${name} is inside`);
  }
  assert.ok(outer.height < Math.max(...heights) - Math.min(...heights) + 50, 'with room for its label, and no more');
  const lines = await page.evaluate<{ curves: number; awayPx: number }[]>(`[...document.querySelectorAll('svg .e')].map(
    (line, i) => {
      const label = document.querySelectorAll('svg .el rect')[i].getBBox();
      const middle = { x: label.x + label.width / 2, y: label.y + label.height / 2 };
      const points = Array.from({ length: 101 }, (_, n) => line.getPointAtLength((line.getTotalLength() * n) / 100));
      return {
        curves: line.getAttribute('d').split('C').length - 1,
        awayPx: Math.min(...points.map(({ x, y }) => Math.hypot(x - middle.x, y - middle.y))),
      };
    })`);
  assert.ok(lines.length > 5);
  for (const { curves, awayPx } of lines) {
    assert.equal(curves, 1, 'a line to the next column is one curve');
    assert.ok(awayPx < 6, `a label is ${awayPx} pixels away from its line`);
  }
  const other = (await page.locator('svg .nd:has(title:text-is("legal")) rect').boundingBox())!;
  const isOutside =
    other.y + other.height < outer.y || other.y > outer.y + outer.height || other.x > outer.x + outer.width;
  assert.ok(isOutside, 'an advisor is not in the team');
}

async function checks({ page, window, workspace, go }: Opened): Promise<void> {
  const session = workspace
    .list('sessions')
    .find((name) => /routes.*work/.test(name))!
    .replace('.session.yaml', '');
  const talk = (await window.get(`/api/sessions/${session}`)).json<Conversation>();
  assert.deepEqual(
    talk.checks.map(({ verdict }) => verdict),
    ['no', 'yes'],
  );
  await go(`conversation/${session}`);
  const lines = page.locator('.checkline');
  assert.match((await lines.first().textContent())!, /Check: no.*demo\/judge/);
  assert.match((await lines.last().textContent())!, /Check: yes/);
  const order = await page.evaluate<string[]>(
    "[...document.querySelector('.cw').children].map((each) => each.className)",
  );
  const isMessage = (name: string): boolean => name.startsWith('msg');
  const [first, last] = [order.indexOf('checkline'), order.lastIndexOf('checkline')];
  assert.ok(order.slice(0, first).some(isMessage), 'messages come before it');
  assert.ok(order.slice(first + 1, last).some(isMessage), 'and between the two');
}

async function costs({ page, window, go }: Opened): Promise<void> {
  const { tree, usage } = (await window.get('/api/tasks/build_user_api')).json<TaskDetail>();
  assert.equal(
    tree.reduce((sum, { own }) => sum + own.microUsd, 0),
    usage.microUsd,
  );
  await go('task/build_user_api');
  await page.click('button:text-is("Tree")');
  const rows = page.locator('.ctree .wfr:not(.wfh)');
  await rows.first().waitFor();
  await until(async () => {
    await page.keyboard.press(']');
    return (await rows.count()) === tree.length;
  });
  const total = `$${(usage.microUsd / 1e6).toFixed(4)}`;
  assert.equal(await rows.first().locator('.num').last().textContent(), total);
  await page.keyboard.press('[');
  await until(async () => (await rows.count()) < tree.length);
}

test('thoughts that were kept are folded above the answer, as text', async (t) => {
  const workspace = await askingPlace(t);
  const name = workspace.list('sessions')[0]!;
  const parts = JSON.stringify([{ type: 'reasoning', text: 'First <b>this</b>, then that.' }, { type: 'call' }]);
  const provider = { name: 's', model: 'x', message: 'none', chain: 'none', parts };
  const text = workspace.read(`sessions/${name}`);
  const told = text.replace(
    /^( *)- role: assistant$/m,
    (line, space: string) => `${line}\n${space}  provider: ${JSON.stringify(provider)}`,
  );
  assert.notEqual(told, text);
  workspace.put(`sessions/${name}`, told);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, go } = shown;
  await go(`conversation/${name.replace('.session.yaml', '')}`);
  const thoughts = page.locator('.thoughts');
  await thoughts.waitFor();
  assert.equal(await thoughts.locator('p').isVisible(), false, 'folded');
  await thoughts.locator('summary').click();
  assert.equal(await thoughts.locator('p').textContent(), 'First <b>this</b>, then that.');
  const guests = await openWindow(t, workspace, { readOnly: true });
  const talk = (await guests.get(`/api/sessions/${name.replace('.session.yaml', '')}`)).text;
  assert.doesNotMatch(talk, /then that/, 'guests see no thoughts');
});

test('the preview of an undo shows the lines of each file', async (t) => {
  const workspace = await askingPlace(t);
  workspace.put('agents/boss.md', `${workspace.read('agents/boss.md')}Be brief.\n`);
  workspace.put('memory/fresh.md', 'One.\nTwo.\n');
  workspace.put('guild.yaml', SCRIPTED);
  succeeds(await workspace.guild('pump', '--all').then((ran) => ({ ...ran, code: 0 })));
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, go } = shown;
  await go('history');
  await page.locator('.hrow').last().click();
  const file = page.locator('.undofile:has-text("agents/boss.md")');
  await file.waitFor();
  assert.match((await file.locator('summary').textContent())!, /changed.*\+0.*−1/);
  await file.locator('summary').click();
  assert.match((await file.locator('.dl.d').first().textContent())!, /Be brief\./);
  await page.waitForSelector('.undofile:has-text("memory/fresh.md") >> text=taken away');
});
