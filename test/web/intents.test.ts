/** Every act of the window is an intent that the files show; a stale screen changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { succeeds } from '../kit/guild.js';
import { askingPlace, openWindow } from '../kit/web/window.js';
import type {
  AgentFile,
  Boards,
  Conversation,
  IntentDone,
  Requests,
  TaskDetail,
  TaskPage,
} from '../../src/web/base/contract.js';

test('approving runs exactly what was on the screen', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  assert.equal(request!.kind, 'command');
  assert.equal(request!.action.text, 'touch made.txt');
  const stale = await window.send('request.approve', request!.id, {}, 'another-digest');
  assert.equal(stale.status, 409);
  assert.deepEqual(workspace.list('.guild/intents'), []);
  assert.equal((await window.send('request.approve', request!.id, {}, request!.seen)).status, 202);
  succeeds(await workspace.guild('pump', '--all'));
  assert.match(workspace.read(`results/${request!.task!.id}.md`), /All done/);
  const late = await window.send('request.reject', request!.id, {}, request!.seen);
  assert.equal(late.status, 409, 'it was answered meanwhile');
});

test('a rejection carries its reason, and an edit runs as edited', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  await window.send('request.reject', request!.id, { reason: 'not on a Friday' }, request!.seen);
  succeeds(await workspace.guild('pump', '--all'));
  const { answered } = (await window.get('/api/requests?again')).json<Requests>();
  assert.equal(answered[0]?.answer?.reason, 'not on a Friday');

  const other = await askingPlace(t);
  const second = await openWindow(t, other);
  const [again] = (await second.get('/api/requests')).json<Requests>().open;
  await second.send('request.edit', again!.id, { text: 'touch mine.txt' }, again!.seen);
  succeeds(await other.guild('pump', '--all'));
  assert.match(other.read('tasks/approvals.task.md'), /touch mine\.txt/);
});

test('the same key twice is done once', async (t) => {
  const window = await openWindow(t, await askingPlace(t));
  const add = (): ReturnType<typeof window.send> =>
    window.send('task.add', '', { description: 'Write a poem', to: 'boss' }, undefined, 'one-and-the-same');
  const [first, second] = await Promise.all([add(), add()]);
  assert.equal(first.status, 202);
  assert.deepEqual(first.json<IntentDone>(), second.json<IntentDone>());
  assert.equal(window.workspace.list('tasks/pending').filter((name) => name.startsWith('task_')).length, 2);
});

test('tell, cancel, pause and resume do what their commands do', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const { rows } = (await window.get(`/api/tasks?where=${encodeURIComponent("to = 'boss'")}`)).json<TaskPage>();
  const id = rows[0]!.id;
  assert.equal((await window.send('task.tell', id, { text: 'be quick' })).status, 202);
  assert.equal((await window.send('agent.pause', 'boss', { reason: 'lunch' })).status, 202);
  assert.equal(workspace.read('storage/paused/boss').trim(), 'lunch');
  assert.equal((await window.send('agent.resume', 'boss')).status, 202);
  assert.deepEqual(workspace.list('storage/paused'), []);
  assert.equal((await window.send('agent.pause', '../boss')).status, 422);
  assert.equal((await window.send('task.cancel', id, { reason: 'no longer needed' })).status, 202);
  succeeds(await workspace.guild('pump', '--all'));
  const detail = (await window.get(`/api/tasks/${id}?later`)).json<TaskDetail>();
  assert.equal(detail.row.code, 'cancelled');
  assert.match(detail.error!.message, /no longer needed/);
  assert.equal((await window.send('task.retry', 'no-such-task')).status, 404);
});

test('a fork starts a new conversation, and the old one stays as it is', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  const before = workspace.read(`sessions/${request!.session}.session.yaml`);
  const forked = await window.send('task.fork', request!.session!, { at: 1, text: 'and now differently' });
  assert.equal(forked.status, 202, forked.text);
  const { session, task } = forked.json<IntentDone>().made!;
  const talk = (await window.get(`/api/sessions/${session!}`)).json<Conversation>();
  assert.equal(talk.messages.at(-1)?.text, 'Begin the work', 'the copy ends where the person forked');
  const record = JSON.parse(workspace.read(`tasks/pending/${task!}.json`)) as { description: string };
  assert.equal(record.description, 'and now differently');
  assert.equal(workspace.read(`sessions/${request!.session}.session.yaml`), before);
});

test('editing a message changes only its text; a save of a stale screen changes nothing', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  const file = `sessions/${request!.session}.session.yaml`;
  const talk = (await window.get(`/api/sessions/${request!.session}`)).json<Conversation>();
  const n = talk.messages.find(({ text }) => text.includes('Begin the work'))!.n;
  const before = workspace.read(file);
  const edit = (text: string): ReturnType<typeof window.send> =>
    window.send('session.edit', request!.session!, { n, text }, talk.seen);
  assert.equal((await edit('Begin my work: "quoted"\n- [ ] and a list')).status, 202);
  const now = (await window.get(`/api/sessions/${request!.session}?now`)).json<Conversation>();
  assert.equal(now.messages.find((message) => message.n === n)?.text, 'Begin my work: "quoted"\n- [ ] and a list');
  assert.equal(workspace.read(file).split('\n').length > before.split('\n').length - 2, true);
  const stale = await edit('Begin something else');
  assert.equal(stale.status, 409);
  assert.match(stale.json<{ theirs: string }>().theirs, /Begin my work/);
  assert.doesNotMatch(workspace.read(file), /something else/);
});

test('an agent file is checked before it is saved, and never saved over another edit', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const known = (await window.get('/api/agents/boss')).json<AgentFile>();
  const wrong = await window.send('agent.write', 'boss', { text: '---\ntools: {a: 1}\n---\nHi\n' }, known.seen);
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /tools/);
  const text = known.text.replace('You are the boss.', 'You are the kind boss.');
  assert.equal((await window.send('agent.write', 'boss', { text }, known.seen)).status, 202);
  assert.equal(workspace.read('agents/boss.md'), text);
  assert.equal((await window.send('agent.write', 'boss', { text: known.text }, known.seen)).status, 409);
  assert.equal((await window.send('agent.write', 'clerk', { text })).status, 202);
  assert.equal(workspace.read('agents/clerk.md'), text);
  assert.equal((await window.send('agent.write', 'clerk', { text })).status, 409, 'a new agent replaces none');
  assert.equal((await window.send('agent.write', '../clerk', { text })).status, 422);
});

test('a box on a board is set in its line, and only on a board', async (t) => {
  const workspace = await askingPlace(t);
  const board = '# Plan\n\n- [ ] Water the plants @boss\n* [ ] Feed the cat\n';
  workspace.put('tasks/plan.task.md', board);
  const window = await openWindow(t, workspace);
  const { boards } = (await window.get('/api/boards')).json<Boards>();
  const set = (target: string, line: number): ReturnType<typeof window.send> =>
    window.send('board.set', target, { line, box: 'x' }, boards[0]!.seen);
  assert.equal((await set('tasks/plan.task.md', 1)).status, 422, 'no box there');
  assert.equal((await set('tasks/approvals.task.md', 4)).status, 404);
  assert.equal((await set('../plan.task.md', 4)).status, 404);
  assert.equal((await set('tasks/plan.task.md', 4)).status, 202);
  assert.equal(workspace.read('tasks/plan.task.md'), board.replace('* [ ]', '* [x]'));
  assert.equal((await set('tasks/plan.task.md', 3)).status, 409, 'the board is another now');
});
