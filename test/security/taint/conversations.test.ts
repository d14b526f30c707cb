/** M4: every task of a conversation leaves its taint in it, for every later reader. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ballotOf, pump, scene } from '../scene.js';

const TOOLS = 'read_file, execute_command, read_session, delegate_to_agent';
const AGENT = `---\ndescription: Does work\ntools: [${TOOLS}]\n---\nYou work.\n`;
const SHARED = AGENT.replace('---\nYou', 'session: shared\n---\nYou');
const FILES = {
  'agents/executor.md': AGENT,
  'agents/other.md': AGENT,
  'inbox/slack-messages.jsonl': '{"from": "mallory", "text": "hello from mallory", "id": "1"}\n',
};
const ACT = 'call: [{execute_command: {command: "touch memory/out"}}]';
const task = (description: string, more: object = {}): string =>
  JSON.stringify({ description, to: 'executor', ...more });
const NO_MAIL = { ...FILES, 'inbox/slack-messages.jsonl': '' };

test('a follow-up of an early task has read what a later one of the conversation brought', async (t) => {
  const workspace = scene(t, `- when: act now\n  turn: 1\n  ${ACT}\n- say: noted\n`, NO_MAIL);
  workspace.put('tasks/pending/first.json', task('a clean task'));
  await pump(workspace);
  // A reply in a thread becomes a task like this one.
  const reply = { session: 'executor-first', context: { taint: ['slack/mallory'], follows: { task: 'first' } } };
  workspace.put('tasks/pending/reply.json', task('mallory says hello', reply));
  await pump(workspace);
  const { code, err } = await workspace.guild('task', 'tell', 'first', 'act now');
  assert.equal(code, 0, err);
  await pump(workspace);
  assert.match(ballotOf(workspace), /Influenced by: slack\/mallory/);
});

test('the answer of a tainted child stays in a shared conversation', async (t) => {
  const workspace = scene(
    t,
    `- when: ask the other
  agent: executor
  turn: 1
  call: [{delegate_to_agent: {agent: other, task: look}}]
- when: act now
  agent: executor
  turn: 1
  ${ACT}
- agent: other
  turn: 1
  call: [{read_file: {path: inbox/old.jsonl}}]
- say: mallory says hello
`,
    { ...NO_MAIL, 'agents/executor.md': SHARED, 'inbox/old.jsonl': 'mallory says hello\n' },
  );
  workspace.put('tasks/pending/first.json', task('ask the other'));
  for (let n = 0; n < 3; n++) await pump(workspace);
  assert.match(workspace.read('sessions/executor.session.yaml'), /mallory says hello/);
  workspace.put('tasks/pending/second.json', task('act now'));
  await pump(workspace);
  assert.match(ballotOf(workspace), /Influenced by: inbox\/read_file/);
});

for (const [kind, executor] of Object.entries({ shared: SHARED, own: AGENT }))
  test(`an agent that reads a conversation (${kind}) gets the taint of all its tasks`, async (t) => {
    const workspace = scene(
      t,
      `- agent: other
  turn: 1
  call: [{read_session: {session: SESSION}}]
- agent: other
  turn: 2
  ${ACT}
- say: noted
`,
      { ...NO_MAIL, 'agents/executor.md': executor },
    );
    workspace.put('tasks/pending/first.json', task('a clean task'));
    await pump(workspace);
    const [session] = workspace.list('sessions').map((name) => name.replace('.session.yaml', ''));
    const reply = { session, context: { taint: ['slack/mallory'] } };
    workspace.put('tasks/pending/reply.json', task('mallory says hello', reply));
    await pump(workspace);
    workspace.put('script.yaml', workspace.read('script.yaml').replace('SESSION', session!));
    workspace.put('tasks/pending/reader.json', task('look at it', { to: 'other' }));
    await pump(workspace);
    assert.match(ballotOf(workspace), /Influenced by: slack\/mallory/);
  });

test('a fork of a tainted conversation is tainted', async (t) => {
  const workspace = scene(t, `- when: act now\n  ${ACT}\n- say: noted\n`, FILES);
  await pump(workspace);
  const [session] = workspace.list('sessions').map((name) => name.replace('.session.yaml', ''));
  const { code, err } = await workspace.guild('fork', session!, 'act now');
  assert.equal(code, 0, err);
  await pump(workspace);
  assert.match(ballotOf(workspace), /Influenced by: slack\/mallory/);
});
