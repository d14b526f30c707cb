/** Requests in the window: questions, rules, and all requests for the same action. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type {
  Channels,
  Conversation,
  Request,
  Requests,
  RequestSource,
  TaskBoard,
  Row,
  ViewOpened,
} from '../../src/web/base/contract.js';
import { place, succeeds, type Place } from '../kit/guild.js';
import { askingPlace, openWindow, SCRIPTED, type Window } from '../kit/web/window.js';
import { opened } from '../kit/web/opened.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';

const test = sampleTests('web/requests', 5);

const BOSS = '---\ndescription: Does it\ntools: [execute_command, ask_human]\n---\nYou are the boss.\n';

async function scripted(t: TestContext, script: string, ...requests: string[]): Promise<Place> {
  const workspace = place(t, { 'guild.yaml': SCRIPTED, 'agents/boss.md': BOSS, 'script.yaml': script });
  for (const request of requests) await workspace.guild('run', 'boss', request);
  return workspace;
}

async function openRequests(window: Window, unique = ''): Promise<Request[]> {
  return (await window.get(`/api/requests?${unique}`)).json<Requests>().open;
}

const QUESTION = `- turn: 1
  call:
    - ask_human: {question: Which version is it?, choices: ["1.0", "1.1"], default: "1.1"}
- turn: 2
  when: "1.0"
  say: It is 1.0 then.
`;

test('a question has its choices, and only one of them answers it', async (t) => {
  const workspace = await scripted(t, QUESTION, 'Release it');
  const window = await openWindow(t, workspace);
  const [request] = await openRequests(window);
  assert.equal(request!.kind, 'question');
  assert.deepEqual(request!.question, { choices: ['1.0', '1.1'], default: '1.1' });
  assert.equal(request!.editable, undefined, 'a question has no action to edit');
  assert.equal((await window.send('request.approve', request!.id, {}, request!.seen)).status, 422);
  assert.equal((await window.send('request.answer', request!.id, { text: '2.0' }, request!.seen)).status, 422);
  assert.equal((await window.send('request.answer', request!.id, { text: '1.0' }, 'other')).status, 409);
  assert.equal((await window.send('request.answer', request!.id, { text: '1.0' }, request!.seen)).status, 202);
  succeeds(await workspace.guild('pump', '--all'));
  assert.match(workspace.read(`results/${request!.task!.id}.md`), /It is 1\.0 then/);
});

test('conversation: what the agent asks there is answered in place, or a click away', async (t) => {
  const calls = [
    '{ask_human: {question: Which one?, choices: [left, right]}}',
    '{execute_command: {command: touch a}}',
  ];
  const window = await opened(t, await scripted(t, `- turn: 1\n  call: [${calls.join(', ')}]\n`, 'Begin'));
  if (window === undefined) return;
  const { page, workspace, go } = window;
  await go(`conversation/${workspace.list('sessions')[0]!.replace('.session.yaml', '')}`);
  const asked = page.locator('.comp .ask');
  await asked.locator('button:text-is("right")').click();
  const given = (): string =>
    workspace
      .list('.guild/intents')
      .map((name) => workspace.read(`.guild/intents/${name}`))
      .join();
  await until(() => /"text": ?"right"/.test(given()));
  await asked.locator('a:text-is("Review")').click();
  await page.waitForSelector('.idetail h2:has-text("touch a")');
});

test('always makes the rule that was shown, and the command runs without asking', async (t) => {
  const workspace = await askingPlace(t, 'touch b.txt');
  const window = await openWindow(t, workspace);
  const [request] = await openRequests(window);
  assert.equal(request!.rule, 'touch b.txt');
  assert.equal((await window.send('request.always', request!.id, {}, request!.seen)).status, 202);
  succeeds(await workspace.guild('pump', '--all'));
  assert.match(workspace.read('storage/terminal-cmd-allowlist.yaml'), /touch b/);
  assert.ok(workspace.list('.').includes('b.txt'), 'this time it runs as it was approved');
});

test('no rule is made from an action that text from outside influenced', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}inbox: { agent: boss }\n`,
    'agents/boss.md': BOSS,
    'script.yaml': '- turn: 1\n  say: I look.\n  call:\n    - execute_command: {command: touch c.txt}\n',
  });
  succeeds(await workspace.guild('mail', 'add', 'Make c.txt for me', '--from', 'eve', '--channel', 'slack'));
  await workspace.guild('pump', '--all');
  const window = await openWindow(t, workspace);
  const [request] = await openRequests(window);
  assert.deepEqual(request!.taint, ['slack/eve']);
  assert.equal(request!.rule, undefined);
  assert.equal((await window.send('request.always', request!.id, {}, request!.seen)).status, 422);
  const source = (await window.get(`/api/requests/${request!.id}`)).json<RequestSource>();
  assert.equal(source.said, 'I look.');
  assert.equal(source.untrusted[0]?.source, 'slack/eve');
  assert.match(source.untrusted[0]?.text ?? '', /Make c.txt for me/);
});

test('one answer approves all open requests for exactly the same action', async (t) => {
  const script = '- turn: 1\n  call:\n    - execute_command: {command: touch a.txt}\n- turn: 2\n  say: Done.\n';
  const workspace = await scripted(t, script, 'One', 'Two', 'Three');
  const window = await openWindow(t, workspace);
  const open = await openRequests(window);
  assert.equal(open.length, 3);
  const same = open.filter(({ seen }) => seen === open[0]!.seen);
  assert.equal(open[0]!.alike, same.length);
  assert.equal((await window.send('request.approve', open[0]!.id, { alike: true }, open[0]!.seen)).status, 202);
  assert.equal(workspace.list('.guild/intents').length, same.length);
});

test('why a change is asked again is beside its diff, not a part of it', async (t) => {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': BOSS.replace('execute_command', 'write_file'),
    'script.yaml': '- {turn: 1, call: [{write_file: {path: list.md, content: "milk\\n"}}]}\n- {say: Done.}\n',
  });
  await workspace.guild('run', 'boss', 'Write the list');
  const window = await openWindow(t, workspace);
  const [first] = await openRequests(window);
  assert.deepEqual(first!.facts.again, []);
  workspace.put('list.md', 'bread\n');
  assert.equal((await window.send('request.approve', first!.id, {}, first!.seen)).status, 202);
  await workspace.guild('pump', '--all');
  const [again] = await openRequests(window, 'later');
  assert.deepEqual(again!.facts.again, ['list.md has changed; the diff below is against its current text']);
  assert.deepEqual(again!.changes, ['@@ line 1 @@', '- bread', '+ milk']);
});

test('a board has each task in its column, and a tree has parents before their children', async (t) => {
  const window = await openWindow(t, await askingPlace(t));
  const { columns } = (await window.get('/api/board')).json<TaskBoard>();
  const totals = Object.fromEntries(columns.map(({ state, total }) => [state, total]));
  assert.deepEqual(totals, { pending: 0, active: 0, waiting: 1, you: 1, completed: 0, failed: 0 });
  const { view } = (await window.post('/api/views', { order: 'tree' })).json<ViewOpened>();
  const { rows, all } = (await window.get(`/api/views/${view}`)).json<{ rows: Row[]; all: number }>();
  assert.equal(all, 2);
  assert.deepEqual(
    rows.map(({ depth }) => depth),
    [0, 1],
  );
  assert.equal(rows[1]!.parent, rows[0]!.id);
});

test('a result of another task is said by its agent, and notes of the program have titles', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}channels: { news: {} }\n`,
    'agents/boss.md': '---\ndescription: Does it\ntools: [create_task]\n---\nYou are the boss.\n',
    'agents/hand.md': '---\ndescription: Helps\n---\nYou are the hand.\n',
    'script.yaml': JSON.stringify([
      { agent: 'boss', turn: 1, call: [{ create_task: { agent: 'hand', description: 'Carry the box' } }] },
      { agent: 'boss', turn: 2, say: 'I wait.' },
      { agent: 'hand', say: 'It is upstairs.' },
      { agent: 'boss', say: 'All is done.' },
    ]),
  });
  succeeds(await workspace.guild('run', 'boss', 'Move in', '--id', 'moving'));
  const part = workspace
    .list('tasks/completed')
    .find((name) => name.includes('.call-'))!
    .replace('.json', '');
  succeeds(await workspace.guild('tell', 'news', `See ${part}.`));
  const window = await openWindow(t, workspace);
  const { messages } = (await window.get('/api/sessions/boss-moving')).json<Conversation>();
  assert.deepEqual(messages.map(({ from }) => from).filter(Boolean), ['hand']);
  const notesOf = async (channel: string): Promise<string[]> =>
    (await window.get(`/api/notes?channel=${channel}`)).json<Channels>().notes.map(({ text }) => text);
  const states = (await notesOf('state')).join('\n');
  assert.ok(states.includes('“Carry the box”') && !states.includes(part), states);
  assert.deepEqual(await notesOf('news'), [`See ${part}.`], 'words of a person stay as they are');
});
