/** Promises of the first descriptions of the program that no other suite checks from outside. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';

const ASKING = `
- {agent: ana, turn: 1, call: [{ask_human: {question: Which version?}}]}
- {agent: ana, turn: 2, say: "Done with {{last}}"}
`;
const ANA = '---\ndescription: Releases\ntools: [ask_human]\n---\nDo it.\n';

function asking(): Record<string, string> {
  const files = scripted(ASKING, { 'tasks/pending/t1.json': '{"description": "release it", "to": "ana"}' });
  return { ...files, 'agents/ana.md': ANA };
}

const session = (workspace: Place): string => `sessions/${workspace.list('sessions')[0]}`;
const events = (workspace: Place, name: string): Record<string, unknown>[] =>
  workspace
    .list('events')
    .flatMap((file) => workspace.read(`events/${file}`).trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((event) => event['name'] === name);

async function answered(workspace: Place): Promise<void> {
  const { out } = await workspace.guild('approve', '--json');
  const [{ id }] = JSON.parse(out) as [{ id: string }];
  succeeds(await workspace.guild('answer', id, '1.0'));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
}

test('a conversation that waits for a person sleeps, and wakes when it continues', async (t) => {
  const workspace = place(t, asking());
  succeeds(await workspace.guild('pump', '--quiet'));
  assert.match(workspace.read(session(workspace)), /^status: sleeping/m);
  const { out } = await workspace.guild('query', "SELECT id FROM sessions WHERE status = 'sleeping'", '--json');
  assert.equal((JSON.parse(out) as unknown[]).length, 1);
  await answered(workspace);
  assert.match(workspace.read(session(workspace)), /^status: completed/m);
  assert.equal(events(workspace, 'session.edited').length, 0, 'nobody edited it');
});

test('an edit between two processes is an event with the difference', async (t) => {
  const workspace = place(t, asking());
  succeeds(await workspace.guild('pump', '--quiet'));
  const file = session(workspace);
  workspace.put(file, workspace.read(file).replace('release it', 'release it carefully'));
  await answered(workspace);
  const [edit, ...more] = events(workspace, 'session.edited');
  assert.deepEqual([edit?.['changed'], edit?.['added'], edit?.['removed'], more.length], [1, 0, 0, 0]);
  assert.match(String(edit?.['diff']), /@ message 1, user\n\+ .*carefully/);
});

test('a task under a parent that a person named has its page, and a missing parent is named', async (t) => {
  const sample = '{"id": "task_abc", "parent_id": "task_parent", "description": "look it up", "to": "ana"}';
  const workspace = place(t, {
    ...scripted('- {agent: ana, say: "It is known."}', { 'tasks/pending/task_abc.json': sample }),
    'agents/ana.md': '---\ndescription: Looks\n---\nDo it.\n',
  });
  const { err } = await workspace.guild('pump', '--all');
  assert.match(err, /task_abc names the parent task_parent, which does not exist/);
  assert.match(workspace.read('results/task_abc.md'), /It is known\./);
});

test('an action that the policy runs with notify is listed in the inbox', async (t) => {
  const script = `
- {agent: ana, turn: 1, call: [{create_directory: {path: scratch/ana/drafts}}]}
- {agent: ana, turn: 2, say: Done}
`;
  const workspace = place(t, {
    ...scripted(script, { 'tasks/pending/t1.json': '{"description": "make it", "to": "ana"}' }),
    'agents/ana.md': '---\ndescription: Makes\ntools: [create_directory]\n---\nDo it.\n',
    'storage/policy.yaml': 'files:\n  folders: {pattern: create_directory, supervision: notify}\n',
  });
  const { err } = await workspace.guild('pump', '--all');
  assert.match(err, /create_directory.*drafts/);
  const inbox = await workspace.guild('inbox');
  assert.equal(inbox.code, 0);
  assert.match(
    inbox.err,
    /Done without asking you in the last 24 hours:\n.*ana\s+create_directory scratch\/ana\/drafts/,
  );
});
