/** Promises of the program's first descriptions that no other suite checks from outside. */
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

test('a delegation takes its context as a mapping, and its answer has the kind of work', async (t) => {
  const context = '{working_dir: ".", files: [a.md, b.md]}';
  const script = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: kid, task: Plan it, task_type: planning, context: ${context}}}]}
- {agent: boss, turn: 2, say: "{{last}}"}
- {agent: kid, when: /working_dir/, say: "Planned."}
`;
  const workspace = place(t, {
    ...scripted(script, { 'tasks/pending/t1.json': '{"description": "go", "to": "boss"}' }),
    'agents/boss.md': '---\ndescription: Asks\ntools: [delegate_to_agent]\n---\nDo it.\n',
    'agents/kid.md': '---\ndescription: Plans\n---\nDo it.\n',
  });
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  const { result } = JSON.parse(workspace.read('tasks/completed/t1.json')) as { result: string };
  const answer = JSON.parse(result) as Record<string, unknown>;
  assert.deepEqual(
    [answer['agent_name'], answer['task_type'], answer['result'], answer['success'], answer['error']],
    ['kid', 'planning', 'Planned.', true, null],
  );
  const child = workspace.list('tasks/completed').find((file) => file !== 't1.json')!;
  const { context: known } = JSON.parse(workspace.read(`tasks/completed/${child}`)) as {
    context: Record<string, unknown>;
  };
  assert.equal(known['working_dir'], '.');
  assert.ok(workspace.list('sessions').includes(`${String(known['asker_session'])}.session.yaml`));
});

test('a search finds what people wrote and none of the records about it', async (t) => {
  const script = `
- {agent: ana, task: t1, say: The harbour crane needs new grease.}
- {agent: ana, task: t2, turn: 1, call: [{search_files: {query: harbour crane grease}}]}
- {agent: ana, task: t2, turn: 2, say: "{{last}}"}
`;
  const workspace = place(t, {
    ...scripted(script, {
      'tasks/pending/t1.json': '{"description": "What does the harbour crane need? Grease?", "to": "ana"}',
    }),
    'agents/ana.md': '---\ndescription: Looks\ntools: [search_files]\n---\nDo it.\n',
    'memory/cranes.md': 'The harbour crane gets grease in May.\n',
  });
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  workspace.put('tasks/pending/t2.json', '{"description": "Find the harbour crane", "to": "ana"}');
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  const { result } = JSON.parse(workspace.read('tasks/completed/t2.json')) as { result: string };
  assert.match(result, /memory\/cranes\.md:1: The harbour crane gets grease/);
  assert.doesNotMatch(result, /(tasks|sessions|events)\//);
});

test('get_file_info says what a path is, its size and its lines', async (t) => {
  const script = `
- {agent: ana, turn: 1, call: [{get_file_info: {path: memory/cranes.md}}]}
- {agent: ana, turn: 2, say: "{{last}}"}
`;
  const workspace = place(t, {
    ...scripted(script, { 'tasks/pending/t1.json': '{"description": "look", "to": "ana"}' }),
    'agents/ana.md': '---\ndescription: Looks\ntools: [get_file_info]\n---\nDo it.\n',
    'memory/cranes.md': 'one\ntwo\n',
  });
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  const { result } = JSON.parse(workspace.read('tasks/completed/t1.json')) as { result: string };
  assert.deepEqual(JSON.parse(result), { path: 'memory/cranes.md', kind: 'text file', bytes: 8, lines: 2 });
});
