/** Search in messages, and conversations that are older than a list shows. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { TestContext } from 'node:test';
import type { Conversation, MessagesFound, SessionRow } from '../../../src/web/base/contract.js';
import { place, type Place } from '../../kit/guild.js';
import { sampleTests } from '../../kit/sample.js';
import { opened } from '../../kit/web/opened.js';
import { openWindow, SCRIPTED, type Window } from '../../kit/web/window.js';

const test = sampleTests('web/search', 4);

interface Said {
  role: string;
  content: string;
  [key: string]: unknown;
}

/** YAML reads JSON, so this is a conversation as a person could write one. */
function talk(workspace: Place, id: string, messages: Said[], head: object = {}, minutesAgo = 0): void {
  const fields = {
    session_id: id,
    agent_id: 'boss',
    created: '2026-01-31T09:00:00.000Z',
    status: 'completed',
    ...head,
  };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const items = messages.map((message) => `  - ${JSON.stringify(message)}`);
  const text = [...lines, 'messages:', ...items].join('\n');
  const file = `sessions/${id}.session.yaml`;
  workspace.put(file, `${text}\n`);
  const at = Date.now() / 1000 - 60 * minutesAgo;
  fs.utimesSync(`${workspace.root}/${file}`, at, at);
}

function talking(t: TestContext): Place {
  return place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n' });
}

const search = async (window: Window, text: string): Promise<string[]> => {
  const { found } = (await window.get(`/api/messages?text=${encodeURIComponent(text)}`)).json<MessagesFound>();
  return found.map(({ session, n }) => `${session} ${n}`);
};

test('messages are found by their words, newest conversations first, and results of tools are not', async (t) => {
  const workspace = talking(t);
  const say = (content: string): Said => ({ role: 'user', content });
  talk(workspace, 'old', [say('The Lift works\n   again since Monday')], {}, 60);
  const call = { id: 'c1', function: { name: 'read_file', arguments: { path: 'a.md' } } };
  talk(workspace, 'new', [
    say('Is the lift works again?'),
    { role: 'assistant', content: 'Let me look.', tool_calls: [call] },
    { role: 'tool', content: 'lift works again', tool_call_id: 'c1', name: 'read_file' },
    { role: 'assistant', content: 'Yes: the LIFT WORKS AGAIN. Größe: 5 m² (100%).' },
  ]);
  workspace.put('sessions/broken.session.yaml', 'lift works again: [');
  const window = await openWindow(t, workspace);
  assert.deepEqual(await search(window, 'lift  works again'), ['new 4', 'new 1', 'old 1']);
  assert.deepEqual(await search(window, 'größe: 5 m²'), ['new 4']);
  assert.deepEqual(await search(window, '(100%)'), ['new 4']);
  assert.deepEqual(await search(window, 'works lift'), []);
  assert.deepEqual(await search(window, ' '), []);
  const [first] = (await window.get('/api/messages?text=monday')).json<MessagesFound>().found;
  assert.deepEqual(first, {
    session: 'old',
    n: 1,
    agent: 'boss',
    title: 'old',
    text: 'The Lift works again since Monday',
  });
});

test('a long message is found with the words around it, and many of one conversation do not hide others', async (t) => {
  const workspace = talking(t);
  const long = `${'before '.repeat(50)}the needle is here ${'after '.repeat(50)}`;
  talk(
    workspace,
    'long',
    Array.from({ length: 30 }, () => ({ role: 'user', content: long })),
  );
  talk(workspace, 'short', [{ role: 'user', content: 'A needle.' }], {}, 5);
  const window = await openWindow(t, workspace);
  const { found, isPartial } = (await window.get('/api/messages?text=needle')).json<MessagesFound>();
  assert.deepEqual(
    found.map(({ session, n }) => `${session} ${n}`),
    ['long 30', 'long 29', 'long 28', 'short 1'],
  );
  assert.equal(isPartial, true, 'the long conversation has more');
  assert.match(found[0]!.text, /^…before .* the needle is here after .*…$/);
  assert.ok(found[0]!.text.length < 150);
});

test('what is found is cut between characters, wherever capital letters stand, and has no tags', async (t) => {
  const workspace = talking(t);
  talk(workspace, 'faces', [{ role: 'user', content: `A needle ${'😀'.repeat(60)}` }]);
  talk(workspace, 'quote', [{ role: 'user', content: 'Read\n<result__9drf agent="x">\na pin\n</result__9drf>\nnow' }]);
  talk(workspace, 'letters', [{ role: 'user', content: `${'İ'.repeat(50)}: a thread İs here.` }]);
  const window = await openWindow(t, workspace);
  const text = async (words: string): Promise<string | undefined> => {
    const reply = await window.get(`/api/messages?text=${encodeURIComponent(words)}`);
    return reply.json<MessagesFound>().found[0]?.text;
  };
  assert.match((await text('needle'))!, /^A needle (😀)+…$/u);
  assert.equal(await text('pin'), 'Read a pin now', 'the tags around a quote are not shown');
  assert.match((await text('thread is here'))!, /a thread İs here\.$/);
});

test('one search reads only so much, passes over what is too long, and says that there may be more', async (t) => {
  const workspace = talking(t);
  const words = Array.from({ length: 5 }, () => ({ role: 'user', content: 'red and blue '.repeat(80_000) }));
  talk(workspace, 'long', words);
  const rest = { role: 'user', content: 'blue and red '.repeat(80_000) };
  for (let i = 1; i <= 5; i++) talk(workspace, `middle-${i}`, [rest], {}, i);
  talk(workspace, 'beyond', [{ role: 'user', content: 'blue red' }], {}, 9);
  const window = await openWindow(t, workspace);
  const { found, isPartial } = (await window.get('/api/messages?text=blue%20red')).json<MessagesFound>();
  assert.deepEqual([found, isPartial], [[], true]);
  const near = (await window.get('/api/messages?text=blue%20and%20red')).json<MessagesFound>();
  assert.equal(near.found[0]!.session, 'middle-1', 'after the one that is too long');
});

test('a read-only window has no search in messages', async (t) => {
  const workspace = talking(t);
  talk(workspace, 'secret', [{ role: 'user', content: 'The door code is 4711' }]);
  const guest = await openWindow(t, workspace, { readOnly: true });
  assert.equal((await guest.get('/api/messages?text=4711')).status, 404);
});

test('a search leads to a message far up in its conversation, and lets the person go on from there', async (t) => {
  const workspace = talking(t);
  const messages = Array.from({ length: 300 }, (_, i) => ({ role: 'user', content: `Remark ${i + 1} of many.` }));
  messages[4]!.content = 'Bicycles <img src=x onerror=alert(1)> stay in the yard.';
  talk(workspace, 'meeting', messages);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page } = shown;
  await page.keyboard.press('/');
  await page.keyboard.type('stay in the yard');
  await page.waitForSelector('.palette li:has-text("Bicycles <img src=x onerror=alert(1)> stay in the yard.")');
  await page.setViewportSize({ width: 390, height: 844 });
  const words = (await page.locator('.palette li:has-text("Bicycles") .one').boundingBox())!;
  assert.ok((await page.locator('.palette li').first().boundingBox())!.height >= 44, 'a thumb hits each result');
  assert.ok(words.width > 280, 'on a phone the words have the whole line');
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.keyboard.press('Enter');
  await page.waitForSelector('#m5.on');
  assert.equal(await page.locator('#m5').isVisible(), true);
  const box = (await page.locator('#m5').boundingBox())!;
  assert.ok(box.y > 0 && box.y < 1000, 'it is on the screen');
  await page.click('text=To the newest');
  await page.waitForSelector('#m300');
  assert.equal(await page.locator('#m5').count(), 0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Remark 299 of');
  await page.waitForSelector('.palette li.on:has-text("Remark 299 of many.")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#m299.on');
});

test('older conversations are one click away, and a fork of an old one is found', async (t) => {
  const workspace = talking(t);
  talk(workspace, 'origin', [{ role: 'user', content: 'The first words', task: 'first' }], { task: 'first' }, 900);
  talk(workspace, 'fork', [{ role: 'user', content: 'The first words' }], { forked_from: 'origin@1', task: 'f' }, 800);
  const forked = {
    description: 'x',
    to: 'boss',
    session: 'fork',
    context: { forked_from: { session: 'origin', at: 1 } },
  };
  const ended = { id: 'f', root: 'f', role: 'root', created_at: '2026-01-31T09:00:00.000Z', version: 1, result: 'y' };
  const rest = { requirements: [], dependencies: [], priority: 'C', depth: 0, attempts: 1, ended_at: ended.created_at };
  workspace.put('tasks/completed/f.json', JSON.stringify({ ...ended, ...rest, ...forked }));
  for (let i = 0; i < 205; i++) talk(workspace, `talk-${i}`, [{ role: 'user', content: `Talk ${i}` }], {}, i);
  const shown = await opened(t, workspace);
  if (shown === undefined) return;
  const { page, window, go } = shown;
  const { forks } = (await window.get('/api/sessions/origin')).json<Conversation>();
  assert.deepEqual(forks, [{ id: 'fork', at: 1 }]);
  assert.equal((await window.get('/api/sessions')).json<SessionRow[]>().length, 200);
  await go('conversations');
  await page.click('button:text-is("Older conversations")');
  await page.waitForSelector('.crow:has-text("talk-204")');
  assert.equal(await page.locator('.crow[href]').count(), 207);
  assert.equal(await page.locator('text=Older conversations').count(), 0);
});
