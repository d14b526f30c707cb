/** `guild why` follows waits to their end: the command to run if it waits for you, or a cycle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReader } from '../../../src/app/readers/open-reader.js';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

test('a task that waits for a task that waits for you: the command that it prints lets all of them continue', async (t) => {
  const workspace = place(
    t,
    scripted(
      `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: write it}}]}
- {agent: hand, turn: 1, call: [{write_file: {path: note.md, content: hello}}]}
- {agent: hand, turn: 2, say: Written.}
- {agent: boss, turn: 2, say: Done.}
`,
      { 'agents/hand.md': '---\ndescription: Helps\ntools: [write_file]\n---\nYou are the hand.\n' },
    ),
  );
  succeeds(await workspace.guild('task', 'add', 'Go', '--to', 'boss', '--id', 'q'));
  await until(async () => {
    await workspace.guild('pump');
    return workspace.list('tasks/pending').concat(workspace.list('tasks/waiting')).length === 3;
  });
  const { chain } = JSON.parse(succeeds(await workspace.guild('why', 'q', '--json')).out) as { chain: string[] };
  assert.equal(chain.length, 3, chain.join('\n'));
  assert.match(chain[0]!, /^q \(@boss\) waits for/);
  assert.match(chain[1]!, /\(@hand\) waits for/);
  assert.match(chain[2]!, /\(@human\) waits for you: guild approve (\S+), or guild reject \1$/);
  const [id] = /guild approve ([^,\s]+)/.exec(chain[2]!)!.slice(1);
  succeeds(await workspace.approve(id!));
  await until(async () => {
    await workspace.guild('pump');
    return workspace.list('tasks/completed').includes('q.json');
  });
  assert.equal(JSON.parse(workspace.read('tasks/completed/q.json')).result, 'Done.');
});

test('tasks that wait in a cycle are each named once, and the last line says so', async (t) => {
  const pending = (id: string, dependency: string): [string, string] => [
    `tasks/pending/${id}.json`,
    JSON.stringify({ description: id, to: 'boss', dependencies: [dependency] }),
  ];
  const workspace = place(
    t,
    scripted('- {say: x}', Object.fromEntries([pending('x', 'y'), pending('y', 'z'), pending('z', 'y')])),
  );
  const { chain } = JSON.parse(succeeds(await workspace.guild('why', 'x', '--json')).out) as { chain: string[] };
  assert.deepEqual(
    chain.map((line) => line.split(/[ ,]/)[0]),
    ['x', 'y', 'z', 'y'],
  );
  assert.match(chain.at(-1)!, /they wait for each other/);
});

test("a task whose id only looks like a child's is not part of the other's story or cost", async (t) => {
  const workspace = place(
    t,
    scripted('- {say: Done.}', {
      'tasks/pending/release.json': '{"description": "Release", "to": "boss"}',
      'tasks/pending/release.notes.json': '{"description": "Notes", "to": "boss"}',
    }),
  );
  await until(async () => {
    await workspace.guild('pump');
    return workspace.list('tasks/completed').length === 2;
  });
  const { story } = JSON.parse(succeeds(await workspace.guild('why', 'release', '--json')).out) as {
    story: { text: string }[];
  };
  assert.doesNotMatch(JSON.stringify(story), /release\.notes/);
  const { rows } = JSON.parse(succeeds(await workspace.guild('cost', '--by', 'task', '--json')).out) as {
    rows: { key: string; calls: number }[];
  };
  assert.deepEqual(rows.map(({ key, calls }) => [key, calls]).sort(), [
    ['release', 1],
    ['release.notes', 1],
  ]);
});

const HAND = '---\ndescription: Helps\nmax_concurrent_tasks: 1\ntools: [request_dependency]\n---\nHelp.\n';
const record = (folder: string, id: string, more: object): [string, string] => [
  `tasks/${folder}/${id}.json`,
  JSON.stringify({ description: id, root: 't', ...more }),
];

interface Why {
  chain: string[];
  nodes: string[];
  shares: string[];
}

async function why(workspace: Place, id: string): Promise<Why> {
  return JSON.parse(succeeds(await workspace.guild('why', id, '--json')).out) as Why;
}

test('a chain continues through budgets, busy agents, resources and you, and the graph draws them', async (t) => {
  const need = { type: 'resource', need: 'to print', resource: 'printer' };
  const workspace = place(
    t,
    scripted(
      '- {say: x}',
      Object.fromEntries([
        ['agents/hand.md', HAND],
        record('waiting', 't', { to: 'boss', waits: { tasks: ['t.a'], budget: 'tokens' } }),
        record('waiting', 't.a', { parent: 't', to: 'boss', budget: { tokens: 500 }, waits: { tasks: ['t.a.d'] } }),
        record('waiting', 't.a.d', { parent: 't.a', to: 'engine', role: 'dependency', context: { dependency: need } }),
        record('pending', 'owner', { to: 'hand' }),
        record('pending', 'busy', { to: 'hand' }),
        record('waiting', 'talk', { to: 'boss', waits: { tasks: ['question'] } }),
        record('pending', 'question', { to: 'human', role: 'approval', parent: 'talk' }),
      ]),
    ),
  );
  const store = openReader(workspace.root);
  t.after(() => store.close());
  await store.tasks.scan(true);
  assert.equal(await store.locks.acquire('resource-printer', 'owner', { durable: true }), true);
  assert.ok(await store.tasks.claim('busy', 'hand'), 'this process is at work on it');

  const { chain, nodes, shares } = await why(workspace, 't');
  assert.deepEqual(
    nodes,
    ['t', 'budget:t', 't.a', 't.a.d', 'turn:resource-printer', 'owner', 'agent:hand', 'busy'],
    chain.join('\n'),
  );
  assert.match(chain[0]!, /^t \(@boss\) waits for its budget of tokens, which is held by t\.a \(500 tokens\):$/);
  assert.match(chain[3]!, /^owner \(@hand\) waits for capacity: hand works on busy, and on at most 1 at once:$/);
  assert.match(chain.at(-1)!, /^busy .*is being worked on by process/);
  assert.deepEqual(shares, ['t.a holds 500 tokens of its budget until it ends']);
  assert.deepEqual((await why(workspace, 'talk')).nodes, ['talk', 'question', '@human']);

  const text = succeeds(await workspace.guild('graph', 't')).out;
  assert.match(text, /⇢ waits for the budget of t\n.*⇠ t\.a holds 500 tokens/);
  assert.match(text, /⇢ waits for the resource printer, held by owner/);
  assert.match(succeeds(await workspace.guild('graph', 'owner')).out, /⇢ waits for capacity at hand, busy with busy/);
  assert.match(succeeds(await workspace.guild('graph', 'talk', '--mermaid')).out, /n1\(\("you"\)\)/);
  const graph = JSON.parse(succeeds(await workspace.guild('graph', 't', '--json')).out) as {
    nodes: { kind: string }[];
  };
  assert.deepEqual(graph.nodes.map(({ kind }) => kind).toSorted(), ['budget', 'resource']);
});

test('a wait for a task with an unreadable file names the file and the place', async (t) => {
  const workspace = place(
    t,
    scripted('- {say: Done.}', {
      'tasks/waiting/q.json': '{"description": "Q", "to": "boss", "waits": {"tasks": ["q.part"]}}',
      'tasks/pending/q.part.json': '{"description": "Half a',
    }),
  );
  succeeds(await workspace.guild('pump'));
  const { chain } = JSON.parse(succeeds(await workspace.guild('why', 'q', '--json')).out) as { chain: string[] };
  assert.deepEqual(chain.length, 1);
  assert.match(
    chain[0]!,
    /^q \(@boss\) waits for q\.part, whose file cannot be read: tasks\/pending\/q\.part\.json:1.*does not end/,
  );
  const part = await workspace.guild('why', 'q.part');
  assert.equal(part.code, 1);
  assert.match(part.err, /tasks\/pending\/q\.part\.json:1.*does not end/);
  const boss = JSON.parse(succeeds(await workspace.guild('state', '--json')).out) as unknown;
  assert.match(JSON.stringify(boss), /for q\.part, whose file cannot be read/);
});
