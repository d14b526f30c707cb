/** Windows stay correct: a server that goes and comes back, several tabs, words as they arrive. */
import assert from 'node:assert/strict';
import type { Conversation, Hall } from '../../src/web/base/contract.js';
import { startServer } from '../../src/web/server.js';
import { environment, place, succeeds } from '../kit/guild.js';
import { until, withEnoughTime } from '../kit/until.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { askingPlace, openWindow, SCRIPTED } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('web/live', 7);

test('a window survives a restart of the server, with a request made meanwhile', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const options = { root: workspace.root, env: environment(workspace.root), port: 0, readOnly: false };
  const first = await startServer(options);
  const { page } = await showPage(browser, first.link());
  await page.goto(`${page.url().split('#')[0]}#/inbox`);
  await page.waitForSelector('text=1 waiting');
  await first.close();
  await page.waitForSelector('text=Not live');
  await page.waitForSelector('text=Disconnected at');
  assert.ok(await page.isVisible('text=touch made.txt'), 'what was read stays on the screen');
  assert.ok(await page.isDisabled('.abar .btn.pri'), 'nothing can be sent');
  await workspace.guild('run', 'boss', 'Begin once more');
  const second = await startServer(options);
  t.after(() => second.close());
  assert.equal(second.port, first.port, 'the address is the same');
  await page.waitForSelector('text=2 waiting');
  await page.waitForSelector('.live');
  await page.waitForSelector('.abar .btn.pri:enabled');
});

test('an edit of guild.yaml is in the window without a restart, also after a half saved one', async (t) => {
  const workspace = await askingPlace(t);
  workspace.put('agents/hand.md', '---\ndescription: Helps\n---\nYou help.\n');
  workspace.put('guild.yaml', SCRIPTED.replace('default_agent: boss\n', ''));
  workspace.put('tasks/pending/free.json', '{"description": "Whose is it?", "dependencies": ["never"]}');
  const window = await openWindow(t, workspace);
  const pending = async (): Promise<string[]> =>
    (await window.get('/api/hall')).json<Hall>().pending.map(({ agent }) => agent ?? '?');
  assert.deepEqual(await pending(), ['?']);
  workspace.put('guild.yaml', SCRIPTED.replace('boss', 'hand'));
  await until(async () => (await pending()).join() === 'hand');
  workspace.put('guild.yaml', 'default_agent: [bo');
  workspace.put('guild.yaml', SCRIPTED);
  await until(async () => (await pending()).join() === 'boss');
});

test('two tabs share one stream, and the second takes over when the first closes', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page: first } = await showPage(browser, server.link());
  const streams: string[] = [];
  first.context().on('request', (request) => request.url().includes('/api/stream') && streams.push(request.url()));
  const second = await first.context().newPage();
  await second.goto(`http://${host}/#/tasks`);
  await second.waitForSelector('.tr.on');
  workspace.put('tasks/pending/one.json', '{"description": "Seen through the other tab"}');
  await second.waitForSelector('text=Seen through the other tab');
  assert.deepEqual(streams, [], 'the second tab opens no stream');
  await first.close();
  workspace.put('tasks/pending/two.json', '{"description": "Seen through its own stream"}');
  await second.waitForSelector('text=Seen through its own stream');
  assert.equal(streams.length, 1);
});

test('a turn that runs in another process is in the hall while it runs', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'script.yaml': '- turn: 1\n  wait: 30m\n  say: never\n',
  });
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link());
  workspace.put('tasks/pending/think.json', '{"description": "Think about it"}');
  const running = workspace.start('watch');
  await page.waitForSelector('.work:not(.thead) >> text=boss');
  await page.waitForSelector('text=the model is thinking');
  await t.test('and its conversation can be opened in its first turn', async () => {
    await page.click('.work a:text-is("Think about it")');
    await page.waitForSelector('.fig:has-text("by boss")');
    await page.click('.srow:has-text("Conversation") a:text-is("open")');
    await page.waitForSelector('.msg:has-text("Think about it")');
  });
  const cancelled = await window.send('task.cancel', 'think', { reason: '\n' });
  assert.equal(cancelled.status, 202, cancelled.text);
  await page.goto(`http://${window.host}/#/hall`);
  await page.waitForSelector('text=Every agent is idle');
  await t.test('cancelled is its word on every page, and a reason without words is none', async () => {
    await page.keyboard.press('/');
    await page.fill('.palette input', 'Think');
    await page.waitForSelector('.palette li:has-text("Think about it"):has-text("cancelled")');
    await page.keyboard.press('Escape');
    await page.goto(`http://${window.host}/#/conversations`);
    await page.click('.crow:has-text("Cancelled")');
    await page.waitForSelector('.chead .chip:has-text("Cancelled")');
    await page.goto(`http://${window.host}/#/task/think`);
    await page.waitForSelector('.banner:has-text("cancelled by human")');
  });
  running.interrupt();
  await running.ended;
});

test('words stream into the hall and the conversation while the model says them', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');
  // On a busy machine the answer may be complete before the browser has drawn a part of it.
  const isSeen = await withEnoughTime(
    async (ms) => {
      const workspace = place(t, {
        'guild.yaml': SCRIPTED,
        'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
        'script.yaml': `- turn: 1\n  pace: ${ms}ms\n  say: ${words}\n`,
      });
      const { server, host } = await openWindow(t, workspace);
      const { page } = await showPage(browser, server.link());
      const running = workspace.guild('run', 'boss', 'Talk for a while');
      const isOver = (): boolean => workspace.list('results').length > 0;
      const tail = page.locator('.work .tail:has-text("word2")');
      await until(async () => isOver() || (await tail.count()) > 0);
      const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
      await page.goto(`http://${host}/#/conversation/${session}`);
      const live = page.locator('.livewords');
      const length = async (): Promise<number> => (await live.allTextContents()).join('').length;
      await until(async () => isOver() || (await length()) > 0);
      const first = await length();
      await until(async () => isOver() || (await length()) > first);
      const isGrowing = !isOver();
      succeeds(await running);
      await live.waitFor({ state: 'detached' });
      await page.waitForSelector('.msg >> text=word59');
      await page.context().close();
      return isGrowing;
    },
    (isGrowing) => isGrowing,
    100,
  );
  assert.ok(isSeen, 'words were drawn while the model said them');
});

test('a conversation that a message continues shows the new work, and a fork only its own', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
    'script.yaml': '- {when: again, wait: 30m, say: never}\n- {say: Once.}\n',
  });
  succeeds(await workspace.guild('run', 'boss', 'Say it', '--id', 'first'));
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  succeeds(await workspace.guild('task', 'tell', 'first', 'Say it again'));
  const running = workspace.start('watch');
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link());
  await page.goto(`http://${window.host}/#/conversation/${session}`);
  await page.waitForSelector('.msg .chip:has-text("writing")');
  await page.waitForSelector('.chead:has-text("Say it") .chip:has-text("Active")');
  const talk = (await window.get(`/api/sessions/${session}`)).json<Conversation>();
  assert.equal(talk.first?.id, 'first');
  assert.notEqual(talk.task?.id, 'first');
  await page.goto(`http://${window.host}/#/task/${talk.task!.id}`);
  await page.waitForSelector('.wfr.sel .track [title^="running"]');
  await page.goto(`http://${window.host}/#/conversations`);
  await page.waitForSelector('.crow:has-text("Say it") .chip:has-text("Active")');
  const fork = (await window.send('task.fork', session, { at: 3 })).json<{ made: { task: string; session: string } }>();
  const copy = (await window.get(`/api/sessions/${fork.made.session}`)).json<Conversation>();
  assert.equal(copy.task?.id, fork.made.task, 'copied messages began tasks of the other conversation');
  succeeds(await workspace.guild('task', 'cancel', talk.task!.id));
  running.interrupt();
  await running.ended;
});

test('a message is edited while the agent writes, and both the edit and the answer are kept', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');
  const wasInTime = await withEnoughTime(
    async (ms) => {
      const workspace = place(t, {
        'guild.yaml': SCRIPTED,
        'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
        'script.yaml': `- {pace: ${ms}ms, say: ${words}}\n`,
      });
      const { server, host } = await openWindow(t, workspace);
      const { page } = await showPage(browser, server.link());
      const running = workspace.guild('run', 'boss', 'Buy apples');
      await until(() => workspace.list('sessions').length > 0);
      const file = workspace.list('sessions')[0]!;
      await page.goto(`http://${host}/#/conversation/${file.replace('.session.yaml', '')}`);
      await page.hover('#m1');
      await page.click('#m1 >> text=Edit');
      await page.fill('#m1 textarea', 'Buy oranges');
      const isWriting = workspace.list('results').length === 0 && (await page.locator('.livewords').count()) > 0;
      await page.keyboard.press('Control+Enter');
      succeeds(await running);
      if (isWriting) {
        await page.waitForSelector('#m1 .txt:has-text("Buy oranges")');
        await page.waitForSelector('.msg >> text=word59');
        const kept = workspace.read(`sessions/${file}`);
        assert.match(kept, /Buy oranges[^]*word0 [^]*word59/);
        assert.doesNotMatch(kept, /apples/);
      }
      await page.context().close();
      return isWriting;
    },
    (isWriting) => isWriting,
    100,
  );
  assert.ok(wasInTime, 'the message was saved while the model spoke');
});

test('a row that changes is tinted once, and a list that is all new is not', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  await page.evaluate(`globalThis.tinted = [];
    new MutationObserver(() => {
      for (const row of document.querySelectorAll('.tr.tint'))
        if (!tinted.includes(row.textContent)) tinted.push(row.textContent);
    }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] })`);
  await page.goto(`http://${host}/#/tasks`);
  await page.waitForSelector('.tr.on');
  const tinted = (): Promise<string[]> => page.evaluate<string[]>('tinted');
  workspace.put('tasks/pending/one.json', '{"description": "Came alone"}');
  await until(async () => (await tinted()).some((row) => row.includes('Came alone')));
  const before = (await tinted()).length;
  for (let n = 0; n < 12; n++)
    workspace.put(`tasks/pending/many-${n}.json`, `{"description": "Came with ${n} others"}`);
  await page.waitForSelector('.tr:has-text("Came with 11 others")');
  const inAll = (await tinted()).slice(before).filter((row) => row.includes('Came with'));
  assert.ok(inAll.length <= 5, `${inAll.length} of 12 rows were tinted`);
});
