/** The window without a mouse: every act has a place in the order of the keys, and a name. */
import assert from 'node:assert/strict';
import type { Requests } from '../../src/web/base/contract.js';
import type { TestContext } from 'node:test';
import { place, succeeds, type Place } from '../kit/guild.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { opened, type Opened } from '../kit/web/opened.js';
import { askingPlace, openWindow, SCRIPTED } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';

const test = sampleTests('web/keyboard', 3);

const PAGES = ['hall', 'inbox', 'tasks', 'tasks?view=board', 'waits', 'conversations', 'agents', 'boards', 'costs'];

test('everything that acts has a name and can be reached by Tab', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  workspace.put('tasks/plan.task.md', '# Plan\n\n- [ ] Water the plants @nobody\n');
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  const debug = await page.context().newCDPSession(page);
  for (const name of [...PAGES, `task/${task}`, `conversation/${session}`, 'history', 'replay', 'machines']) {
    await page.goto(`http://${host}/#/${name}`);
    await page.waitForSelector(':is(h1, h2):visible');
    await page.waitForSelector('.still', { state: 'detached' });
    const { nodes } = (await debug.send('Accessibility.getFullAXTree')) as { nodes: Node[] };
    const acting = nodes.filter(({ ignored, role }) => !ignored && ACTING.has(role?.value ?? ''));
    assert.ok(acting.length > 10, name);
    const nameless = acting.filter((node) => (node.name?.value ?? '').trim() === '');
    assert.deepEqual(nameless, [], `without a name on ${name}`);
    const outside = await page.evaluate<string[]>(
      `[...document.querySelectorAll('button:enabled, a[href], input, textarea, select, summary')]
        .filter((each) => each.checkVisibility() && each.tabIndex < 0).map((each) => each.outerHTML.slice(0, 80))`,
    );
    assert.deepEqual(outside, [], `not in the order of the keys on ${name}`);
  }
});

interface Node {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
}

const ACTING = new Set(['button', 'link', 'textbox', 'checkbox', 'slider', 'combobox']);

test('letters go to pages, / searches, ? shows the keys, Esc leaves, and fields take letters as text', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, await askingPlace(t));
  const { page } = await showPage(browser, server.link());
  const pages = { h: 'hall', i: 'inbox', t: 'tasks', w: 'waits', c: 'conversations', a: 'agents', k: 'costs' };
  for (const [key, name] of Object.entries(pages)) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`#/${name}$`));
  }
  await page.keyboard.press('?');
  await page.waitForSelector('[role=dialog][aria-label=Keys]');
  await page.keyboard.press('Escape');
  await page.goto(page.url().replace(/#.*/, '#/tasks'));
  await page.waitForSelector('.tr:not(.thead)');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Begin');
  await page.waitForSelector('.palette li:has-text("Begin the work")');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.palette', { state: 'detached' });
  await page.keyboard.press('c');
  await page.keyboard.type('gh? jk');
  assert.equal(await page.inputValue('[role=dialog] textarea'), 'gh? jk');
});

test('a second g has its own time, however soon it follows the first', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, await askingPlace(t));
  const { page } = await showPage(browser, server.link());
  await page.clock.install();
  await page.keyboard.type('gt');
  await page.waitForURL(/#\/tasks$/);
  await page.clock.runFor(1400);
  await page.keyboard.press('g');
  await page.clock.runFor(200);
  await page.keyboard.press('c');
  await page.waitForURL(/#\/conversations$/);
});

test('reduced motion stops everything that turns', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, await askingPlace(t));
  const { page } = await showPage(browser, server.link());
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(`document.querySelector('main').insertAdjacentElement('beforeend',
    Object.assign(document.createElement('span'), { className: 'chip s-run turning' })).append(
    Object.assign(document.createElement('span'), { className: 'caret' }))`);
  const moving = await page.evaluate<string[]>(
    `[...document.querySelectorAll('*')].filter((each) => {
      const { animationName, transitionDuration } = getComputedStyle(each);
      return animationName !== 'none' || /[1-9]/.test(transitionDuration);
    }).map((each) => each.className)`,
  );
  assert.deepEqual(moving, []);
});

/** The kinds of the intents that the page has sent. */
function sentBy({ page }: Opened): () => Promise<string[]> {
  const kinds: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/intents')) kinds.push((request.postDataJSON() as { kind: string }).kind);
  });
  // Keys act at once, so after one more question to the page the request that a key made is known.
  return async () => (await page.evaluate('0'), kinds);
}

test('a risky request needs y and then Enter, and text from outside turns always off', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}inbox: { agent: boss }\n`,
    'agents/boss.md': '---\ndescription: Does it\ntools: [execute_command]\n---\nYou are the boss.\n',
    'script.yaml': '- turn: 1\n  call:\n    - execute_command: {command: rm -rf scratch}\n',
  });
  await workspace.guild('mail', 'add', 'Remove it for me', '--from', 'eve', '--channel', 'slack');
  await workspace.guild('pump', '--all');
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, window, go } = shown;
  assert.equal((await window.get('/api/requests')).json<Requests>().open[0]!.isGrave, true);
  const sent = sentBy(shown);
  await go('inbox');
  await page.waitForSelector('.abar');
  await page.keyboard.press('a');
  assert.equal(await page.locator('.abar pre').count(), 0, 'no rule is offered');
  assert.ok(await page.isDisabled('.abar button:has-text("Always")'));
  await page.keyboard.press('Enter');
  await page.keyboard.press('y');
  await page.waitForSelector('.abar >> text=Really approve');
  assert.deepEqual(await sent(), []);
  await page.keyboard.press('Escape');
  await page.dblclick('.abar button:has-text("Approve")', { delay: 60 });
  await page.waitForSelector('.abar >> text=Really approve');
  assert.deepEqual(await sent(), [], 'a double click answers nothing');
  await page.keyboard.press('Enter');
  await until(async () => (await sent()).length === 1);
  assert.deepEqual(await sent(), ['request.approve']);
});

/** Three agents that ask to run a command each. */
async function askingThree(t: TestContext): Promise<Place> {
  const names = ['ann', 'bob', 'cleo'];
  const file = '---\ndescription: Does it\ntools: [execute_command]\n---\nYou work.\n';
  const line = (name: string): string =>
    `- agent: ${name}\n  turn: 1\n  call:\n    - execute_command: {command: touch ${name}.txt}\n`;
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'script.yaml': names.map(line).join(''),
    ...Object.fromEntries(names.map((name) => [`agents/${name}.md`, file])),
  });
  for (const name of names) await workspace.guild('run', name, 'Begin the work');
  return workspace;
}

const FOCUSED = "document.activeElement.tagName + ' ' + document.activeElement.textContent";
const SENT_AT =
  "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/intents')).map(({ startTime }) => startTime)";

test('a key held down answers once, the next request has the focus, and its keys wait half a second', async (t) => {
  const shown = await opened(t, await askingThree(t));
  if (shown === undefined) return;
  const { page, go } = shown;
  const sent = sentBy(shown);
  await go('inbox');
  await page.waitForSelector('h2:has-text("touch ann.txt")');
  await page.keyboard.down('y');
  await page.waitForSelector('h2:has-text("touch bob.txt")');
  await until(async () => /^H2 .*touch bob\.txt/.test(await page.evaluate<string>(FOCUSED)));
  await until(async () => {
    await page.keyboard.down('y');
    return page.evaluate<boolean>(`performance.now() - ${SENT_AT}[0] > 800`);
  });
  assert.deepEqual(await sent(), ['request.approve'], 'the key is still down');
  await page.keyboard.up('y');
  await until(async () => {
    await page.keyboard.press('y');
    return (await sent()).length === 3;
  });
  const [, second, third] = await until(async () => {
    const times = await page.evaluate<number[]>(SENT_AT);
    return times.length === 3 ? times : undefined;
  });
  assert.ok(third! - second! >= 500, `answered after ${third! - second!} ms`);
});

test('the next request has the focus, also if it is drawn before the reply to the answer has come', async (t) => {
  const shown = await opened(t, await askingThree(t));
  if (shown === undefined) return;
  const { page, go } = shown;
  await go('inbox');
  await page.waitForSelector('h2:has-text("touch ann.txt")');
  await page.evaluate(`(() => {
    const real = fetch;
    const isDrawn = () => document.querySelector('.idetail h2').textContent.includes('touch bob.txt');
    globalThis.fetch = async (...asked) => {
      const reply = await real(...asked);
      while (String(asked[0]).endsWith('/api/intents') && !isDrawn()) await new Promise(requestAnimationFrame);
      return reply;
    };
  })()`);
  await page.keyboard.press('y');
  await page.waitForURL(/inbox\/./);
  await until(async () => /^H2 .*touch bob\.txt/.test(await page.evaluate<string>(FOCUSED)));
});

test('a request that takes the place of another one by itself is not answered by a key that was on its way', async (t) => {
  const workspace = await askingThree(t);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, go } = shown;
  const sent = sentBy(shown);
  await go('inbox');
  await page.waitForSelector('h2:has-text("touch ann.txt")');
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (!document.querySelector('.idetail h2').textContent.includes('touch bob.txt')) return;
    observer.disconnect();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'y' }));
    globalThis.isPressed = true;
  }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true })`);
  const [first] = workspace
    .list('tasks/pending')
    .filter((name) => /call/.test(name) && workspace.read(`tasks/pending/${name}`).includes('ann.txt'));
  succeeds(await workspace.guild('reject', first!.replace('.json', ''), 'not now'));
  await until(() => page.evaluate<boolean>('globalThis.isPressed === true'));
  assert.deepEqual(await sent(), []);
  await until(async () => {
    await page.keyboard.press('y');
    return (await sent()).length === 1;
  });
});

test('r retries a failed task once, however long it is held', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n',
    'script.yaml': '- fail: refused\n  message: not today\n',
  });
  await workspace.guild('run', 'boss', 'Begin the work');
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const sent = sentBy(shown);
  await shown.go(`task/${workspace.list('tasks/failed')[0]!.replace('.json', '')}`);
  await shown.page.waitForSelector('button:has-text("Retry")');
  for (let n = 0; n < 5; n++) await shown.page.keyboard.down('r');
  await until(async () => (await sent()).length > 0);
  assert.deepEqual(await sent(), ['task.retry']);
});
