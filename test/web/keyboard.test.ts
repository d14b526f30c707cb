/** The window without a mouse: every act has a place in the order of the keys, and a name. */
import assert from 'node:assert/strict';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { askingPlace, openWindow } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';

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
