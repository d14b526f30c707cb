/** M4: a bullet that a tainted agent changed, and a query about a tainted task, carry the taint. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ballotOf, pump, scene } from '../scene.js';

const TOOLS = 'read_file, execute_command, update_task, query_tasks';
const AGENT = `---\ndescription: Does work\ntools: [${TOOLS}]\n---\nYou work.\n`;
const ACT = 'call: [{execute_command: {command: "touch memory/out"}}]';
const FILES = { 'agents/executor.md': AGENT, 'agents/other.md': AGENT };
const BOARD = `# Plan

## TODO

- [ ] @executor "Look at it"
  id: look
- [x] @other "Deploy"
  id: deploy
`;

const script = (change: string): string => `- {agent: executor, turn: 1, call: [{read_file: {path: inbox/old.md}}]}
- {agent: executor, turn: 2, call: [{update_task: {id: deploy, ${change}}}]}
- {agent: executor, say: "{{last}}"}
- agent: other
  turn: 1
  ${ACT}
- say: done
`;

test('a bullet that a tainted agent reopens becomes a tainted task', async (t) => {
  const workspace = scene(t, script('status: open, fields: {description: "mallory says so"}'), {
    ...FILES,
    'tasks/plan.task.md': BOARD,
    'inbox/old.md': 'mallory says so\n',
  });
  for (let n = 0; n < 4; n++) await pump(workspace);
  assert.match(workspace.read('tasks/plan.task.md'), /influenced_by: inbox\/read_file/);
  assert.match(ballotOf(workspace), /touch memory\/out/);
  assert.match(ballotOf(workspace), /Influenced by: inbox\/read_file/);
});

test('an agent can neither remove that mark nor make a task repeat', async (t) => {
  for (const field of ['influenced_by', 'schedule', 'timezone', 'missed']) {
    const workspace = scene(t, script(`fields: {${field}: "* * * * *"}`), {
      ...FILES,
      'tasks/plan.task.md': BOARD,
      'inbox/old.md': 'mallory says so\n',
    });
    await pump(workspace);
    assert.match(workspace.read('results/look.md'), new RegExp(`${field} cannot be set through fields`));
    assert.doesNotMatch(workspace.read('tasks/plan.task.md'), new RegExp(`${field}:`));
  }
});

for (const [what, query] of Object.entries({
  'what tasks say': 'SELECT description FROM tasks',
  'all of a task': "SELECT * FROM tasks WHERE description CONTAINS 'mallory'",
  'what happened': 'SELECT * FROM events',
  'a board': 'SELECT title, description FROM tasks/plan.task.md',
}))
  test(`a query for ${what} carries the taint of what it shows`, async (t) => {
    const workspace = scene(
      t,
      `- agent: other
  turn: 1
  call: [{query_tasks: {query: ${JSON.stringify(query)}}}]
- agent: other
  turn: 2
  ${ACT}
- say: done
`,
      {
        ...FILES,
        'inbox/slack-messages.jsonl': '{"from": "mallory", "text": "hello from mallory", "id": "1"}\n',
        'tasks/plan.task.md': BOARD.replace('"Deploy"', '"Deploy" influenced_by: slack/mallory'),
      },
    );
    for (let n = 0; n < 2; n++) await pump(workspace);
    workspace.put('tasks/pending/clean.json', '{"description": "look around", "to": "other"}');
    for (let n = 0; n < 2; n++) await pump(workspace);
    assert.match(ballotOf(workspace), /Influenced by: slack\/mallory/);
  });

test('a count shows no text and carries nothing', async (t) => {
  const workspace = scene(
    t,
    `- agent: other
  turn: 1
  call: [{query_tasks: {query: "SELECT COUNT(*) FROM tasks"}}]
- agent: other
  turn: 2
  ${ACT}
- say: done
`,
    { ...FILES, 'inbox/slack-messages.jsonl': '{"from": "mallory", "text": "hello from mallory", "id": "1"}\n' },
  );
  await pump(workspace);
  workspace.put('tasks/pending/clean.json', '{"description": "look around", "to": "other"}');
  for (let n = 0; n < 2; n++) await pump(workspace);
  assert.match(ballotOf(workspace), /touch memory\/out/);
  assert.doesNotMatch(ballotOf(workspace), /Influenced by/);
});
