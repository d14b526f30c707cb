/**
 * `guild agent start` in several real processes: bids, a killed peer, a stopped peer, the registry.
 */
import assert from 'node:assert/strict';
import { place, succeeds, type Place, type Spawned } from '../../kit/guild.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/commands/swarm', 4);

const NAMES = ['ana', 'ben', 'cyd'];

/** `cyd` takes forever to bid. */
const SCRIPT = `
- {agent: ana, task: '*.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: 7, reason: I can}}]}
- {agent: ben, task: '*.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: 9, reason: mine}}]}
- {agent: cyd, task: 'slow.bid-*', wait: 30m, say: never}
- {agent: cyd, task: '*.bid-*', call: [{place_bid: {proceed: false, able: true, fitness: 9, reason: not me}}]}
- {agent: ben, task: long, turn: 1, call: [{read_file: {path: guild.yaml}}]}
- {agent: ben, task: long, turn: 2, wait: 1s, call: [{read_file: {path: script.yaml}}]}
- {say: "{{agent}} did {{task}}"}
`;

function hall(more: Record<string, string> = {}): Record<string, string> {
  const agents = NAMES.map((name) => [
    `agents/${name}.md`,
    `---\ndescription: Is ${name}\ntools: [read_file]\n---\nWork.\n`,
  ]);
  return {
    'guild.yaml':
      'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\nwatch: { rescan: 1s }\ncoordination: { bid: 1h }\ngit: false\n',
    'script.yaml': SCRIPT,
    ...Object.fromEntries(agents),
    ...more,
  };
}

function drop(workspace: Place, id: string, more: object = {}): void {
  workspace.put(`tasks/pending/${id}.json`, JSON.stringify({ description: `Do ${id}`, ...more }));
}

interface Registry {
  agents: { name: string; live: { pid: number }[]; state: string; capabilities: string[]; file: string }[];
}

/** Which process works for each agent, as the registry says now. */
function livePids(workspace: Place): Record<string, number[]> {
  try {
    const { agents } = JSON.parse(workspace.read('agents/registry.json')) as Registry;
    return Object.fromEntries(agents.map(({ name, live }) => [name, live.map(({ pid }) => pid)]));
  } catch {
    return {}; // not there yet
  }
}

/** Both the record and the page: either may appear first. */
const isDone = (workspace: Place, id: string): boolean =>
  workspace.list('tasks/completed').includes(`${id}.json`) && workspace.list('results').includes(`${id}.md`);
const started = (workspace: Place): Spawned[] => NAMES.map((name) => workspace.spawn('agent', 'start', name));

test('three processes with one agent each bid, the best one works, and why explains the choice', async (t) => {
  const workspace = place(t, hall());
  const all = started(workspace);
  const pids = all.map(({ child }) => child.pid!);
  await until(() => NAMES.every((name, i) => livePids(workspace)[name]?.join() === String(pids[i])));
  drop(workspace, 'quick');
  await until(() => isDone(workspace, 'quick'));
  assert.equal(workspace.read('results/quick.md'), '# Do quick\n\nben did quick\n');
  assert.match(workspace.read('tasks/bids/quick.md'), /Awarded to \*\*ben\*\*/);
  const why = succeeds(await workspace.guild('why', 'quick')).out;
  assert.match(why, /awarded to ben\n.* {2}ben: awarded 9 \(fitness 9, no record yet; needs 6\): mine/);
  for (const { child } of all) child.kill('SIGTERM');
  for (const { ended } of all) assert.equal((await ended).code, 0);
  assert.deepEqual(livePids(workspace), { ana: [], ben: [], cyd: [] }, 'a peer that leaves is removed');
});

test('a peer killed during its bid delays no other, and is removed from the registry', async (t) => {
  const workspace = place(t, hall());
  const [ana, ben, cyd] = started(workspace);
  await until(() => Object.values(livePids(workspace)).filter((pids) => pids.length === 1).length === 3);
  drop(workspace, 'slow');
  await until(() => workspace.list('tasks/active').some((name) => name.includes('bid-cyd')));
  cyd!.child.kill('SIGKILL');
  await cyd!.ended;
  await until(() => livePids(workspace)['cyd']?.length === 0);
  await until(() => isDone(workspace, 'slow'));
  assert.equal(workspace.read('results/slow.md'), '# Do slow\n\nben did slow\n');
  assert.match(workspace.read('tasks/bids/slow.md'), /\| cyd \| no bid \|/);
  await until(() => ['pending', 'active', 'waiting'].every((state) => workspace.list(`tasks/${state}`).length === 0));
  assert.deepEqual([ana!.child.exitCode, ben!.child.exitCode], [null, null]);
});

test('a killed peer is noticed immediately, and another process continues its conversation', async (t) => {
  const workspace = place(t, hall());
  const first = workspace.spawn('agent', 'start', 'ben');
  await until(() => livePids(workspace)['ben']?.length === 1);
  drop(workspace, 'long', { to: 'ben' });
  await until(
    () =>
      workspace.list('sessions').includes('ben-long.session.yaml') &&
      workspace.read('sessions/ben-long.session.yaml').includes('read_file'),
  );
  const second = workspace.spawn('agent', 'start', 'ben', 'ana');
  await until(() => livePids(workspace)['ana']?.length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  await until(() => isDone(workspace, 'long'));
  assert.equal(workspace.read('results/long.md'), '# Do long\n\nben did long\n');
  assert.equal(workspace.list('sessions').filter((name) => name.startsWith('ben-long')).length, 1);
  await until(() => livePids(workspace)['ben']?.join() === String(second.child.pid));
});

test('a stopped peer keeps its task and continues when it wakes', async (t) => {
  const workspace = place(t, hall());
  const sleeper = workspace.spawn('agent', 'start', 'ben');
  drop(workspace, 'long', { to: 'ben' });
  const held = await until(() => workspace.list('tasks/active').find((name) => name.startsWith('long_')));
  sleeper.child.kill('SIGSTOP');
  const other = workspace.start('watch');
  // By then it has scanned the workspace many times.
  for (const id of ['one', 'two', 'three']) {
    drop(workspace, id, { to: 'ana' });
    await until(() => isDone(workspace, id));
  }
  const still = workspace.list('tasks/active').filter((name) => name.startsWith('long_'));
  const ended = isDone(workspace, 'long');
  sleeper.child.kill('SIGCONT');
  assert.ok(ended || still.join() === held, `it was held as ${held}, and is now ${still.join()}`);
  await until(() => isDone(workspace, 'long'));
  const recovered = workspace.read(`events/${workspace.list('events')[0]}`).includes('task.recovered');
  assert.equal(recovered, false, 'no process took it over');
  other.interrupt();
  assert.equal((await other.ended).code, 0);
});
