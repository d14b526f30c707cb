/** `--json` prints one document or JSON lines of a stable shape, and nothing else on stdout. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/commands.js';
import { place, scripted, succeeds, type Ran } from '../kit/guild.js';

type Json = Record<string, unknown>;

function onlyObject<T = Json>(ran: Ran): T {
  assert.equal(succeeds(ran).out.trim().split('\n').length, 1, ran.out);
  assert.equal(ran.err, '', 'nothing is printed for people');
  return JSON.parse(ran.out) as T;
}

const SCRIPT = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: Look}}]}
- {agent: hand, say: Seen.}
- {agent: boss, say: "Done."}
`;

test('every command answers programs', async (t) => {
  const { guild, root } = place(t, scripted(SCRIPT));
  const json = (...args: string[]): Promise<Ran> => guild(...args, '--json');

  const made = onlyObject(await json('init', 'other'));
  assert.deepEqual(Object.keys(made), ['workspace', 'created', 'kept', 'toIgnore']);
  const added = onlyObject(await json('task', 'add', 'A', 'thing', '--id', 'a', '--priority', 'b', '--after', 'never'));
  assert.deepEqual(
    [added['id'], added['description'], added['priority'], added['dependencies']],
    ['a', 'A thing', 'B', ['never']],
  );
  const [listed] = onlyObject<Json[]>(await json('task', 'list'));
  assert.deepEqual([listed!['id'], listed!['state']], ['a', 'pending']);

  const events = succeeds(await json('run', 'boss', 'Go', '--id', 'go'))
    .out.trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
  const ended = events.pop()!;
  assert.deepEqual([ended['id'], ended['state'], ended['result']], ['go', 'completed', 'Done.']);
  assert.ok(events.every((event) => typeof event['at'] === 'string' && /^\w+\.\w+$/.test(String(event['name']))));

  const tree = onlyObject<Json & { children: Json[]; own: Json; total: Json }>(await json('task', 'tree', 'go'));
  assert.deepEqual([tree.total['turns'], tree.own['turns'], tree.children[0]!['to']], [3, 2, 'hand']);
  const shown = onlyObject<Json & { usage: Json }>(await json('task', 'show', 'go'));
  assert.equal(shown['result'], 'Done.');
  assert.deepEqual([shown.usage['turns'], shown.usage['tool_calls']], [3, 1]);
  const spelled = [added, listed, ended, tree, shown].flatMap((task) => JSON.stringify(task).match(/"\w+":/g) ?? []);
  assert.deepEqual(
    spelled.filter((key) => /[a-z][A-Z]/.test(key)),
    [],
    'keys are spelled as in the files',
  );
  const why = onlyObject<{ chain: string[]; events: Json[] }>(await json('why', 'go'));
  assert.match(why.chain[0]!, /go \(@boss\) is completed/);
  assert.ok(why.events.length > 3);
  const state = onlyObject<{ agents: Json[] }>(await json('state'));
  assert.deepEqual(Object.keys(state), ['agents', 'processes', 'open', 'waiting_for_you', 'problems']);
  assert.deepEqual(
    state.agents.map((agent) => agent['agent']),
    ['boss', 'hand'],
  );
  const agents = onlyObject<Json[]>(await json('agent', 'list'));
  assert.deepEqual(
    agents.map((agent) => [agent['name'], agent['file']]),
    [
      ['boss', 'agents/boss.md'],
      ['hand', 'agents/hand.md'],
    ],
  );
  assert.equal(onlyObject(await json('agent', 'new', 'third'))['file'], 'agents/third.md');
  const checked = await json('check');
  assert.equal(checked.code, 1, 'it names the dependency that does not exist');
  const { problems, ...check } = JSON.parse(checked.out) as Json & { problems: Json[] };
  assert.deepEqual(check, { folder: root, agents: ['boss', 'hand', 'third'], files: 4, warnings: [] });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['not_found'],
  );
  const findings = onlyObject<Json[]>(await json('doctor'));
  assert.ok(findings.every((finding) => ['good', 'odd', 'bad'].includes(String(finding['verdict']))));
  assert.equal(onlyObject(await json('task', 'cancel', 'a', 'no', 'more'))['kind'], 'cancel');
  succeeds(await json('pump'));
  const all = onlyObject<Json[]>(await json('task', 'list', '--all'));
  assert.deepEqual(
    all
      .map((task) => `${String(task['id'])} ${String(task['state'])}`)
      .filter((line) => !line.includes('.'))
      .sort(),
    ['a failed', 'go completed'],
  );
});

test('--quiet leaves the result alone, and the text may come from a pipe', async (t) => {
  const { guildWith } = place(t, scripted('- say: "You said {{last}}"'));
  const ran = succeeds(await guildWith({ input: 'many\nlines\n' }, 'run', 'boss', '-', '--quiet'));
  assert.equal(ran.err, '');
  assert.match(ran.out, /^You said many\nlines/);
});

test('a failed run exits with 1, and a waiting task is reported as waiting', async (t) => {
  const { guild, guildWith } = place(
    t,
    scripted('- {agent: boss, fail: refused, message: no}\n- {agent: hand, say: ok}'),
  );
  assert.equal((await guild('run', 'boss', 'x', '--quiet')).code, 1);
  succeeds(await guild('task', 'add', 'later', '--id', 'later', '--to', 'human'));
  succeeds(await guildWith({}, 'run', 'hand', 'x', '--quiet'));
  assert.match(succeeds(await guild('why', 'later')).out, /waits for you/);
});

test('help --json lists every command, its options and the exit codes', async (t) => {
  const { guild } = place(t);
  const { out } = succeeds(await guild('help', '--json'));
  const help = JSON.parse(out) as { options: Json[]; exit_codes: Json; commands: (Json & { options: Json[] })[] };
  assert.deepEqual(
    help.commands.map(({ name }) => name),
    COMMANDS.map(({ name }) => name),
  );
  assert.deepEqual(help.exit_codes, { done: 0, problem: 1, usage: 2, refused: 3, waiting: 4, interrupted: 130 });
  assert.ok(help.options.some(({ name, short, value }) => name === '--workspace' && short === '-w' && value === true));
  const task = help.commands.find(({ name }) => name === 'task')!;
  assert.deepEqual(
    task.options.find(({ name }) => name === '--requires'),
    {
      name: '--requires',
      value: true,
      placeholder: 'CAP,…',
      multiple: true,
      about: 'add: capabilities that the agent must have',
    },
  );
  for (const command of [
    ['--help', '--json'],
    ['--json', '-h'],
  ])
    assert.equal((await guild(...command)).out, out);
  for (const command of [
    ['help', 'task', '--json'],
    ['task', '--help', '--json'],
    ['help', '--json', 'task'],
  ])
    assert.deepEqual(JSON.parse(succeeds(await guild(...command)).out), task);
});

test('a graph for programs, however it is asked for', async (t) => {
  const { guild } = place(t, scripted('- say: ok', { 'tasks/pending/a.json': '{"description": "x"}' }));
  for (const graph of [
    ['graph', 'a'],
    ['agent', 'list', '--graph'],
  ]) {
    const { out } = succeeds(await guild(...graph, '--json'));
    JSON.parse(out);
    for (const how of [['--format', 'json'], ['--format=JSON'], ['--json', '--format', 'json']])
      assert.equal(succeeds(await guild(...graph, ...how)).out, out);
  }
  const { out } = succeeds(await guild('graph', 'a', '--dot'));
  assert.equal(succeeds(await guild('graph', 'a', '--format', 'graphviz')).out, out);
});
