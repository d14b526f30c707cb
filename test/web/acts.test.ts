/** Every act of every page in a real browser, and the resulting files. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Hall } from '../../src/web/base/contract.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { place, succeeds, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';
import { askingPlace, openWindow, SCRIPTED } from '../kit/web/window.js';
import { sampleTests } from '../kit/sample.js';
import { opened } from '../kit/web/opened.js';

const test = sampleTests('web/acts', 7);

function intents(workspace: Place): string {
  return workspace
    .list('.guild/intents')
    .map((name) => workspace.read(`.guild/intents/${name}`))
    .join();
}

const intent = (workspace: Place, text: RegExp): Promise<unknown> => until(() => text.test(intents(workspace)));

const BOSS = '---\ndescription: Does it\ntools: [execute_command, ask_human]\n---\nYou are the boss.\n';

async function scripted(t: TestContext, script: string): Promise<Place> {
  const workspace = place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': BOSS, 'script.yaml': script });
  await workspace.guild('run', 'boss', 'Begin the work');
  return workspace;
}

test('hall: a new task is added, and a choice is answered in place', async (t) => {
  const script = '- turn: 1\n  call:\n    - ask_human: {question: Which one?, choices: [left, right]}\n';
  const window = await opened(t, await scripted(t, script));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go('hall');
  await page.click('.ask >> text=right');
  await intent(workspace, /"text": ?"right"/);
  await page.keyboard.press('c');
  await page.fill('[role=dialog] textarea', 'Paint the door');
  await page.selectOption('select', 'boss');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('h1:has-text("Paint the door")');
  const added = workspace.list('tasks/pending').map((name) => workspace.read(`tasks/pending/${name}`));
  assert.ok(added.some((text) => text.includes('Paint the door')));
});

test('inbox: edit, always and skip by their keys', async (t) => {
  const edited = await opened(t, await askingPlace(t, 'touch one.txt'));
  if (edited === undefined) return;
  await edited.go('inbox');
  await edited.page.waitForSelector('.abar');
  await edited.page.keyboard.press('e');
  await edited.page.fill('.abar textarea', 'touch mine.txt');
  await edited.page.keyboard.press('Control+Enter');
  await intent(edited.workspace, /touch mine\.txt/);
  succeeds(await edited.workspace.guild('pump', '--all'));
  await edited.page.click('.it:has-text("approved with edits")');
  await edited.page.waitForSelector('.field:has-text("Approved instead") pre:text-is("touch mine.txt")');
  await edited.page.waitForSelector('.field:has-text("command") pre:text-is("touch one.txt")');

  const always = await opened(t, await askingPlace(t, 'touch two.txt'));
  await always!.go('inbox');
  await always!.page.waitForSelector('.abar');
  await always!.page.keyboard.press('s');
  assert.equal(intents(always!.workspace), '', 'skipping answers nothing');
  await always!.page.keyboard.press('a');
  await always!.page.waitForSelector('text=terminal-cmd-allowlist.yaml');
  assert.ok(await always!.page.isVisible('.abar pre:has-text("touch two.txt")'), 'the rule is shown first');
  assert.equal(intents(always!.workspace), '', 'showing the rule makes none');
  await always!.page.keyboard.press('Enter');
  await intent(always!.workspace, /"always": ?true/);
});

test('tasks: a drop on a column means the intent that it names, and other columns take no drop', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go('tasks?view=board');
  const card = page.locator('.col[data-state=waiting] .card');
  await card.waitFor();
  await card.dragTo(page.locator('.col[data-state=active]'));
  assert.equal(intents(workspace), '');
  await card.dragTo(page.locator('.col[data-state=failed]'));
  await page.fill('[role=dialog] textarea', 'dropped');
  await page.keyboard.press('Control+Enter');
  await intent(workspace, /"kind": ?"cancel"[^]*dropped/);
  succeeds(await workspace.guild('pump', '--all'));
  const failed = page.locator('.col[data-state=failed] .card:has(summary)');
  await failed.waitFor();
  await failed.locator('summary').press('Enter');
  await failed.locator('text=Retry').press('Enter');
  await intent(workspace, /"kind": ?"retry"/);
});

test('task: tell, stop and cancel; conversation: edit, fork and send', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  await go(`task/${task}`);
  await page.keyboard.press('t');
  await page.fill('[role=dialog] textarea', 'be quick');
  await page.keyboard.press('Control+Enter');
  await intent(workspace, /be quick/);
  await page.waitForSelector('[role=dialog]', { state: 'detached' });
  await page.keyboard.press('p');
  await intent(workspace, /"kind": ?"stop"/);
  await page.keyboard.press('x');
  await page.fill('[role=dialog] textarea', 'no longer needed');
  await page.keyboard.press('Control+Enter');
  await intent(workspace, /no longer needed/);
  await page.waitForSelector('[role=dialog]', { state: 'detached' });

  await go(`conversation/${session}`);
  await page.hover('#m1');
  await page.click('#m1 >> text=Edit');
  await page.fill('#m1 textarea', 'Begin my own work');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.read(`sessions/${session}.session.yaml`).includes('Begin my own work'));
  await page.fill('.comp textarea', 'and hurry');
  await page.keyboard.press('Control+Enter');
  await intent(workspace, /and hurry/);
  await page.hover('#m1');
  await page.click('#m1 >> text=Fork from here');
  await page.fill('[role=dialog] textarea', 'another way');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.list('sessions').length === 2);
  await page.waitForSelector('.msg:has(.who :text-is("Next")) .txt:has-text("another way")');
});

test('conversation: an edit that meets another edit shows both, and mine becomes a fork', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const file = `sessions/${workspace.list('sessions')[0]!}`;
  await go(`conversation/${file.slice('sessions/'.length, -'.session.yaml'.length)}`);
  await page.hover('#m1');
  await page.click('#m1 >> text=Edit');
  await page.fill('#m1 textarea', 'My version of it');
  workspace.put(file, workspace.read(file).replace('Begin the work', 'Their version of it'));
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.conflict >> text=Their version of it');
  assert.ok(await page.isVisible('.conflict >> text=My version of it'));
  assert.equal(await page.locator('.fencefoot').count(), 0, 'saving it again would meet the same edit');
  assert.doesNotMatch(workspace.read(file), /My version/);
  await page.click('text=Save mine as a fork');
  await until(() => workspace.list('sessions').length === 2);
  const pending = (): string[] =>
    workspace.list('tasks/pending').map((name) => workspace.read(`tasks/pending/${name}`));
  await until(() => pending().some((text) => text.includes('My version of it')));
  await page.waitForSelector('.msg:has(.who :text-is("Next")) .txt:has-text("My version of it")');
  assert.match(workspace.read(file), /Their version/);
  await page.click('.chead >> text=Compare');
  await page.waitForSelector('.compare .cmain:nth-child(2) >> text=My version of it');
  await page.waitForSelector('.compare >> text=Different from here');
  const [left, right] = await Promise.all([1, 2].map((n) => page.locator(`.cmain:nth-child(${n})`).boundingBox()));
  assert.deepEqual([right!.y, right!.x], [left!.y, left!.x + left!.width], 'side by side');
});

test('agents: a file that changes while a person edits it keeps their text, and a save shows both', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go('agents/boss');
  await page.click('button:text-is("Edit file")');
  await page.click('.cm-content');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('My sentence.');
  const theirs = workspace.read('agents/boss.md').replace('description: ', 'description: Their words, ');
  workspace.put('agents/boss.md', theirs);
  await page.waitForSelector('.page >> text=Their words');
  assert.ok(await page.isVisible('.cm-content >> text=My sentence.'));
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.conflict >> text=My sentence.');
  assert.equal(workspace.read('agents/boss.md'), theirs);
});

test('agents: the editor checks while typing and saves; pause with a reason; a new agent', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  await go('agents/boss');
  await page.click('button:text-is("Edit file")');
  await page.waitForSelector('.cm-content');
  await page.click('.cm-content');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('End');
  await page.keyboard.type('\ntols: [read_file]');
  await page.waitForSelector('.editor .banner');
  assert.ok(await page.isDisabled('.editor .btn.pri'), 'a broken file is not saved');
  await page.waitForSelector('.cm-lintRange-error');
  await page.waitForSelector('.cm-lint-marker-error');
  assert.deepEqual(refused, [], 'its marks need nothing that the policy of the page refuses');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('Be kind.');
  await page.waitForSelector('.editor >> text=No problems');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.read('agents/boss.md').includes('Be kind.'));
  await page.click('button:text-is("Pause…")');
  await page.fill('[role=dialog] textarea', 'lunch');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.list('storage/paused').includes('boss'));
  await page.click('button:text-is("Resume")');
  await until(() => workspace.list('storage/paused').length === 0);
  await page.click('button:has-text("New agent")');
  await page.fill('[role=dialog] input', 'clerk');
  await page.waitForSelector('[role=dialog] .cm-content');
  await page.click('[role=dialog] .btn.pri');
  await until(() => workspace.list('agents').includes('clerk.md'));
});

test('agents: the name of a new agent is typed before its editor has loaded, and stays the name', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/schemas/agent', async (route) => (await held, await route.continue()));
  await go('agents');
  await page.click('button:has-text("New agent")');
  await page.keyboard.type('cle');
  release();
  await page.waitForSelector('[role=dialog] .cm-content');
  await page.keyboard.type('rk');
  await page.click('[role=dialog] .btn.pri');
  await until(() => workspace.list('agents').includes('clerk.md'));
  assert.doesNotMatch(workspace.read('agents/clerk.md'), /rk---/);
});

test('boards: a box; notes: tell', async (t) => {
  const workspace = await askingPlace(t);
  workspace.put('tasks/plan.task.md', '# Plan\n\n- [ ] Water the plants @nobody\n');
  workspace.put('guild.yaml', `${SCRIPTED}channels:\n  news: {}\n`);
  succeeds(await workspace.guild('tell', 'news', 'The door is open'));
  const window = await opened(t, workspace);
  if (window === undefined) return;
  const { page, go } = window;
  await go('boards');
  await page.click('.tick');
  await until(() => workspace.read('tasks/plan.task.md').includes('- [x] Water'));
  await go('notes/news');
  await page.fill('main input', 'The door is painted');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.page >> text=The door is painted');
});

test('task: a fork by its key; history: an undo that was looked at first', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  await go(`task/${task}`);
  await page.keyboard.press('f');
  await page.fill('[role=dialog] textarea', 'Do it another way');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.list('sessions').length === 2);
  await page.waitForSelector('.chead');
  assert.match(page.url(), /#\/conversation\//);
  workspace.put('notes/mine.md', 'First.\n');
  workspace.put('agents/boss.md', `${workspace.read('agents/boss.md')}Be brief.\n`);
  succeeds(await workspace.guild('pump', '--all').then((ran) => ({ ...ran, code: 0 })));
  await go('history');
  await page.waitForSelector('.hrow:has-text("Begin the work"):has-text("boss")');
  await page.locator('.hrow').last().click();
  await page.waitForSelector('text=would change');
  await page.click('button:has-text("Undo to here")');
  assert.match(workspace.read('agents/boss.md'), /Be brief/, 'the first click changes nothing');
  await page.click('button:has-text("Really change")');
  await page.waitForSelector('text=Done, as a new commit');
  assert.doesNotMatch(workspace.read('agents/boss.md'), /Be brief/);
});

test('a broken file is shown as it is with its problem, and the page continues when it is repaired', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const file = `sessions/${workspace.list('sessions')[0]!}`;
  const good = workspace.read(file);
  workspace.put(file, good.replace('messages:', 'messages: [oops'));
  await go(`conversation/${file.slice('sessions/'.length, -'.session.yaml'.length)}`);
  await page.waitForSelector('.banner >> text=.session.yaml:');
  await page.waitForSelector('pre.file:has-text("[oops")');
  workspace.put(file, good);
  await page.waitForSelector('#m1');
  await go('hall');
  workspace.put('tasks/pending/half.json', '{"description": "half');
  workspace.put('agents/hand.md', '---\ntools: {\n---\nYou.\n');
  const [task, agent] = [
    page.locator('.banner:has-text("half.json:1")'),
    page.locator('.banner:has-text("hand.md:2")'),
  ];
  await Promise.all([task.waitFor(), agent.waitFor()]);
  workspace.put('tasks/pending/other.json', '{"description": "Another event", "dependencies": ["never"]}');
  await until(async () => (await window.window.get('/api/tasks')).text.includes('Another event'));
  const { problems } = (await window.window.get('/api/hall')).json<Hall>();
  assert.equal(problems.length, 2, 'they stay while they are so');
  workspace.put('tasks/pending/half.json', '{"description": "whole", "dependencies": ["never"]}');
  workspace.put('agents/hand.md', '---\ndescription: Helps\n---\nYou.\n');
  await Promise.all([task.waitFor({ state: 'detached' }), agent.waitFor({ state: 'detached' })]);
  workspace.put('agents/boss.md', '---\ntools: {\n---\nYou.\n');
  await go('agents/boss');
  await page.waitForSelector('.banner >> text=agents/boss.md');
  await page.waitForSelector('pre.file:has-text("tools: {")');
  await page.waitForSelector('.banner pre:has-text("tools: {") .fault');
  await t.test('beside it is the version that it worked with last, and a click goes back to it', async () => {
    await page.waitForSelector('.lastvalid .uni:visible:has-text("tools: [execute_command]"):has-text("tools: {")');
    await page.waitForSelector('.srow:has-text("Cost"):has-text("1 call")');
    await page.click('button:has-text("Go back to the last valid version")');
    await until(() => workspace.read('agents/boss.md').includes('tools: [execute_command]'));
    await page.waitForSelector('.lastvalid', { state: 'detached' });
  });
});

test('conversation: @name speaks to another agent, and an unknown name sends nothing', async (t) => {
  const asking = await askingPlace(t);
  asking.put('agents/bookkeeper.md', '---\ndescription: Keeps books\n---\nYou keep books.\n');
  const window = await opened(t, asking);
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go(`conversation/${workspace.list('sessions')[0]!.replace('.session.yaml', '')}`);
  const box = page.locator('.comp textarea');
  await box.fill('@nobody Hello');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.comp .banner:has-text("there is no agent nobody; nothing was sent")');
  await box.fill('');
  await box.pressSequentially('@bo');
  assert.deepEqual(await page.locator('.mentions li').allTextContents(), ['@bookkeeper', '@boss']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), '@bookkeeper ');
  await box.pressSequentially('Add up the receipts');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.comp:has-text("Sent to bookkeeper as a task") a:text-is("Add up the receipts")');
  const tasks = workspace.list('tasks/pending').map((name) => workspace.read(`tasks/pending/${name}`));
  const task = JSON.parse(tasks.find((text) => text.includes('receipts'))!) as { to: string; description: string };
  assert.deepEqual([task.to, task.description], ['bookkeeper', 'Add up the receipts']);
  assert.doesNotMatch(intents(workspace), /receipts|Hello/, 'the conversation itself got nothing');
});

test('conversation: messages are chosen, edited and forked by keys', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  await go(`conversation/${session}`);
  await page.waitForSelector('#m1');
  await page.keyboard.press('j');
  await page.waitForSelector('#m1.on');
  await page.keyboard.press('e');
  await page.fill('#m1 textarea', 'Begin by the keyboard');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.read(`sessions/${session}.session.yaml`).includes('Begin by the keyboard'));
  await page.waitForSelector('#m1 textarea', { state: 'detached' });
  await page.keyboard.press('f');
  await page.fill('[role=dialog] textarea', 'And fork');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.list('sessions').length === 2);
});

test('agents: the editor completes keys and values from the schema', async (t) => {
  const window = await opened(t, await askingPlace(t));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go('agents/boss');
  await page.click('button:text-is("Edit file")');
  await page.waitForSelector('.cm-content');
  await page.click('.cm-content');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('End');
  await page.keyboard.type('\ntempe');
  await page.waitForSelector('.cm-tooltip-autocomplete >> text=temperature');
  await page.waitForSelector('.cm-completionInfo >> text=Sampling temperature');
  // Right after the list opens, Enter is a new line, because the person may still be typing.
  await page.click('.cm-tooltip-autocomplete li >> text=temperature');
  await page.keyboard.type('0.2');
  await page.waitForSelector('.editor >> text=No problems');
  await page.keyboard.press('Control+Enter');
  await until(() => workspace.read('agents/boss.md').includes('temperature: 0.2'));
});

const ACTS = /^(Approve|Reject|Edit|Always|New task|New agent|Pause|Talk|Send|Tell|Undo|Stop|Cancel|Retry|Fork)/;

test('a read-only window has no button that would change something, and no key for one', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await askingPlace(t);
  const [session] = workspace.list('sessions').map((name) => name.replace('.session.yaml', ''));
  const [task] = workspace.list('tasks/waiting').map((name) => name.replace('.json', ''));
  const { server, host } = await openWindow(t, workspace, { readOnly: true });
  const { page } = await showPage(browser, server.link());
  for (const name of ['hall', 'inbox', 'tasks', `task/${task}`, `conversation/${session}`, 'agents/boss', 'notes']) {
    await page.goto(`http://${host}/#/${name}`);
    await page.waitForSelector(':is(h1, h2):visible');
    await page.waitForSelector('.still', { state: 'detached' });
    const buttons = await page.locator('main button').allTextContents();
    assert.deepEqual(
      buttons.filter((text) => ACTS.test(text.trim())),
      [],
      name,
    );
    assert.equal(await page.locator('.comp').count(), 0);
    await page.keyboard.press('c');
    assert.equal(await page.locator('[role=dialog]').count(), 0, 'no form for a task');
  }
});
