/** Agent states with real and killed processes: pause and resume, history, graph and top. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { onTerminal, place, scripted, succeeds } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

const SCRIPT = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: Look}}]}
- {agent: hand, say: Seen.}
- {agent: boss, say: Done.}
`;
const TASK = { 'tasks/pending/t.json': '{"description": "Do it", "to": "boss"}' };

interface Doing {
  agent: string;
  state: string;
  tasks: string[];
  why: string;
}

const parsed = <T>(out: string): T => JSON.parse(out) as T;

test('state shows what each agent does, and its history', async (t) => {
  const { guild } = place(t, scripted(SCRIPT, TASK));
  assert.match(succeeds(await guild('state')).out, /^boss +idle$/m);
  assert.match(succeeds(await guild('state', '--history')).err, /no changes yet/);
  for (const _ of ['boss asks', 'hand answers']) succeeds(await guild('pump'));
  const now = parsed<{ agents: Doing[] }>(succeeds(await guild('state', '--json')).out);
  assert.deepEqual(
    now.agents.map(({ agent, state, tasks }) => [agent, state, tasks]),
    [
      ['boss', 'working', ['t']],
      ['hand', 'waiting', ['t']],
    ],
  );
  succeeds(await guild('pump'));
  const moves = parsed<{ fromState: string; toState: string; trigger: string; at: string }[]>(
    succeeds(await guild('state', '--history', 'hand', '--json')).out,
  );
  assert.equal(moves.map(({ toState }) => toState).join(' '), 'working waiting complete');
  assert.match(moves[0]!.trigger, /^task\.claimed t\.call-/);
  const { out } = succeeds(await guild('state', '--history'));
  assert.match(out, /^\S+ \S+ \S+ +boss +working → blocked +task\.parked t: for t\.call-/m);
  assert.match(succeeds(await guild('state', '--history', '--limit', '1')).err, /and 7 before/);
  assert.equal((await guild('state', 'hand')).code, 2);
});

test('state shows the first line of a problem', async (t) => {
  const { guild } = place(t, scripted('- {agent: hand, say: Seen.}', TASK));
  await guild('pump', '--all');
  const { out } = succeeds(await guild('state'));
  assert.match(out, /^boss +error +t +script\.yaml has no line for agent boss/m);
  assert.doesNotMatch(out, /does not fit/);
});

test('another process sees a state change as it happens', async (t) => {
  const workspace = place(t, scripted(SCRIPT, TASK));
  const watch = workspace.start('state', '--watch', 'boss');
  await watch.says(/every change from now on/);
  for (let pumps = 0; pumps < 3; pumps++) succeeds(await workspace.guild('pump'));
  await watch.says(/boss +waiting → complete/);
  watch.interrupt();
  const { code, out } = await watch.ended;
  assert.equal(code, 0);
  assert.doesNotMatch(out, / hand /);
});

test('a paused agent starts nothing in any process, even after a kill, until it is resumed', async (t) => {
  const workspace = place(t, scripted(SCRIPT, TASK));
  assert.match(succeeds(await workspace.guild('agent', 'pause', 'boss', 'on', 'holiday')).err, /boss is paused/);
  assert.equal(workspace.read('storage/paused/boss'), 'on holiday\n');
  const watch = workspace.spawn('watch');
  await until(
    () => workspace.list('bus').includes('state.jsonl') && workspace.read('bus/state.jsonl').includes('"paused"'),
  );
  watch.child.kill('SIGKILL');
  await watch.ended;
  succeeds(await workspace.guild('pump'));
  assert.deepEqual(workspace.list('tasks/pending'), ['t.json']);
  assert.deepEqual(workspace.list('sessions'), []);
  assert.match(succeeds(await workspace.guild('state')).out, /^boss +paused +.*on holiday/m);
  assert.match(succeeds(await workspace.guild('why', 't')).out, /boss is paused/);
  assert.deepEqual(parsed(succeeds(await workspace.guild('agent', 'resume', 'boss', '--json')).out), {
    agent: 'boss',
    paused: false,
    was_paused: true,
  });
  for (let pumps = 0; pumps < 3; pumps++) succeeds(await workspace.guild('pump'));
  assert.deepEqual(workspace.list('tasks/pending'), []);
  assert.match(workspace.read('results/t.md'), /Done\./);
});

test('a file pauses a running guild in the middle, and its removal lets it continue', async (t) => {
  const script = `
- {agent: boss, turn: 1, wait: 300ms, call: [{read_file: {path: guild.yaml}}]}
- {agent: boss, say: Done.}
`;
  const workspace = place(t, scripted(script, TASK));
  const watch = workspace.start('watch');
  await until(() => workspace.list('tasks/active').length === 1 || workspace.list('tasks/completed').length === 1);
  workspace.put('storage/paused/boss', '');
  await until(() => workspace.list('tasks/active').length === 0);
  t.diagnostic(workspace.list('tasks/pending').length === 1 ? 'it was paused between two turns' : 'it was done before');
  fs.rmSync(path.join(workspace.root, 'storage/paused/boss'));
  await until(() => workspace.list('tasks/completed').length === 1);
  assert.match(workspace.read('results/t.md'), /Done\./);
  watch.interrupt();
  assert.equal((await watch.ended).code, 0);
});

test('pausing an unknown agent is refused, with the nearest name', async (t) => {
  const { guild } = place(t, scripted(SCRIPT));
  const refused = await guild('agent', 'pause', 'bos');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /no agent bos[^]*boss/);
  assert.match(succeeds(await guild('agent', 'resume', 'boss')).err, /was not paused/);
  assert.equal((await guild('agent', 'pause')).code, 2);
});

test('a task as a graph: text, Mermaid, DOT and JSON', async (t) => {
  const { guild } = place(t, scripted(SCRIPT, TASK));
  succeeds(await guild('pump'));
  assert.match(
    succeeds(await guild('graph', 't')).out,
    /^… t @boss Do it\n│ {2}⇢ waits for t\.call-\S+\n└─ ○ call-\S+ @hand Look\n$/,
  );
  assert.match(succeeds(await guild('graph', 't', '--mermaid')).out, /^graph TD\n {2}t1\["t<br\/>@boss"\]:::waiting\n/);
  assert.match(succeeds(await guild('graph', 't', '--dot')).out, /^digraph tasks \{\n[^]* -> [^]*\}\n$/);
  const { tasks, edges } = parsed<{ tasks: object[]; edges: object[] }>(
    succeeds(await guild('graph', 't', '--json')).out,
  );
  assert.deepEqual([tasks.length, edges.length], [2, 2]);
  assert.equal((await guild('graph', 'nothing')).code, 1);
  assert.equal((await guild('graph', 't', '--format', 'png')).code, 2);
});

test('top: one frame in a pipe, lines that fit forty columns, and JSON', async (t) => {
  const { guild, guildWith } = place(t, scripted(SCRIPT, TASK));
  for (const _ of ['boss asks', 'hand answers']) succeeds(await guild('pump'));
  const { out } = succeeds(await guild('top'));
  assert.match(out, /^guild top /);
  assert.match(out, /^1 working · 1 waiting$/m);
  assert.match(out, /^hand +waiting +its part of t is done$/m);
  assert.match(out, /^\d\d:\d\d:\d\d ✓ hand t\.call-/m);
  const narrow = succeeds(await guildWith(onTerminal(40), 'top', '--once')).out;
  // oxlint-disable-next-line no-control-regex
  for (const line of narrow.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').split('\n')) assert.ok(line.length <= 40, line);
  const json = parsed<{ agents: Doing[]; spent: { tokens: number }; open: object[] }>(
    succeeds(await guild('top', '--json')).out,
  );
  assert.equal(json.open.length, 1);
  assert.ok(json.spent.tokens > 0);
  const keys = ['agents', 'peers', 'problems', 'open', 'waiting_for_you', 'spent', 'latest'];
  assert.deepEqual(Object.keys(json), keys, 'no settings');
});

test('top: a task without an assignee is shown with the agent that will take it', async (t) => {
  const { guild } = place(
    t,
    scripted('- say: ok', {
      'tasks/pending/usual.json': '{"description": "Do it"}',
      'tasks/pending/special.json': '{"description": "Fold it", "requirements": ["folding"]}',
      'agents/hand.md': '---\ndescription: Helps\ncapabilities: [folding]\n---\nFold.\n',
    }),
  );
  const { out } = succeeds(await guild('top'));
  assert.match(out, /usual +@boss +Do it/);
  assert.match(out, /special +@hand +Fold it/);
  const { open } = JSON.parse(succeeds(await guild('top', '--json')).out) as { open: { id: string; to: string }[] };
  assert.deepEqual(open.map(({ id, to }) => [id, to]).sort(), [
    ['special', 'hand'],
    ['usual', 'boss'],
  ]);
});

test('top: drawn again when something changes, and the screen is given back', async (t) => {
  const workspace = place(t, scripted(SCRIPT, TASK));
  const top = workspace.startWith(onTerminal(60), 'top');
  await top.says(/2 .{0,9}idle/);
  for (let pumps = 0; pumps < 3; pumps++) succeeds(await workspace.guild('pump'));
  await top.says(/2 .{0,9}complete/);
  top.interrupt();
  const { code, out } = await top.ended;
  assert.equal(code, 0);
  assert.ok(out.startsWith('\u001b[?1049h') && out.trimEnd().endsWith('\u001b[?1049l'));
});
