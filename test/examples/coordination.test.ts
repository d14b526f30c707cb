/**
 * The coordination examples in real processes: a coordinator, a mesh, a deadlock, and a last note
 * still in flight. Each also runs with `kill -9` of a random process at a random moment; the seed
 * is printed, and SEED repeats it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test as always, type TestContext } from 'node:test';
import type { Certificate } from '../../src/domain/task/certificate.js';
import { place, ROOT, succeeds, type Place, type Spawned } from '../kit/guild.js';
import { until, withEnoughTime } from '../kit/until.js';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { startAgents, startTogether, stopAgents } from './terminals.js';

const test = sampleTests('examples/coordination', 5);

const SHOP = /^The ticket shop is open\./;
const PAPER = /^Cold as in 1996: minus 11 then, and lentil soup now\.$/;
const ROADS = 'All roads are open but the one over the river: the bridge is gone.';

test('eight under a coordinator: five kinds of needs, a choice against the rule, help, and a certificate', async (t) => {
  const workspace = example(t, 'coordinator');
  succeeds(await workspace.guild('pump', '--all', '-q'));
  judge(workspace, { shop: SHOP });
  const tree = succeeds(await workspace.guild('task', 'tree', 'shop')).out;
  for (const part of ['data: The tables', 'resource: To try', 'approval: May', 'expertise: How', 'sequence: The plan'])
    assert.ok(tree.includes(`dependency the program ${part}`), part);
  assert.match(tree, /match @pm writer: the designer draws the plan that others wait for/);
  assert.match(tree, /help the program A sale takes two seconds .* \(resolved by database\)/);
  const notes = succeeds(await workspace.guild('notes', 'dependency')).out;
  assert.match(notes, /backend needs data: The tables of seats and sales/);
  gaveBack(workspace);
  assert.match(notes, /writer provides it to frontend, because pm chose it: the designer/);
  assert.match(succeeds(await workspace.guild('notes', 'help')).out, /database helps tester/);
  const history = succeeds(await workspace.guild('state', '--history', 'backend')).out;
  assert.match(history, /idle → working/);
  assert.match(history, /working → blocked/);
  assert.doesNotMatch(history, /<\w+__/, 'no tags are shown to people');
  assert.match(
    succeeds(await workspace.guild('task', 'show', 'shop')).out,
    /^certified +0 open tasks, 0 unread notes/m,
  );
});

/**
 * The backend gave staging back while it still waited for an approval, and asked for it only once.
 */
function gaveBack(workspace: Place): void {
  const lines = workspace.list('events').flatMap((file) => workspace.read(`events/${file}`).trim().split('\n'));
  const events = lines.map(
    (line) => JSON.parse(line) as { name: string; task?: string; agent?: string; tool?: string },
  );
  const returned = events.findIndex(({ name, tool }) => name === 'tool.ran' && tool === 'give_back');
  assert.equal(events[returned]?.agent, 'backend');
  const { task } = events[returned];
  const ended = events.findIndex((event) => event.name === 'task.completed' && event.task === task);
  assert.ok(returned < ended, 'before its task ended');
}

test('under a coordinator, in three processes, one killed at random and restarted: the same result', async (t) => {
  const workspace = example(t, 'coordinator');
  const terminals = [
    ['pm', 'architect', 'database'],
    ['backend', 'frontend', 'designer'],
    ['tester', 'reviewer', 'writer'],
  ];
  await killedAtRandom(t, workspace, terminals, 150, ['shop']);
  judge(workspace, { shop: SHOP });
});

const FOUR = [['editor'], ['archive'], ['reporter'], ['cook']];

test('a mesh of four processes: providers offer, one is chosen, and all four agree on the end', async (t) => {
  const workspace = example(t, 'mesh');
  const peers = await startTogether(workspace, FOUR, 'paper');
  await until(() => isOver(workspace, ['paper']));
  await stopAgents(peers);
  const { paper } = judge(workspace, { paper: PAPER });
  assert.equal(paper!.of, 4, 'four had to agree');
  const notes = succeeds(await workspace.guild('notes', 'dependency')).out;
  assert.match(notes, /editor needs data: How cold was it/);
  assert.match(notes, /cook offers it, fitness 60 of 100/);
  // On a busy machine the archive may be too late, and the reporter is asked: one of them, never
  // both.
  assert.equal(notes.match(/(archive|reporter) provides it to editor/g)?.length, 1);
  assert.match(succeeds(await workspace.guild('notes', 'task')).out, /is paper complete\? asked again/);
});

test('a mesh of four processes, one killed at random and restarted: the same result', async (t) => {
  const workspace = example(t, 'mesh');
  await killedAtRandom(t, workspace, FOUR, 50, ['paper']);
  judge(workspace, { paper: PAPER });
});

const GAVE_WAY = { chart: /without figures/, figures: /^Not published/, release: /^No, until/ };
const GOT_IT = { chart: /^A chart of 4 and 7/, figures: /^Published: 4 and 7/, release: /^Yes: I have seen/ };
const EITHER = { chart: /^A chart/, figures: /ublished/, release: /^(Yes|No)/ };
const RING = Object.keys(EITHER) as (keyof typeof EITHER)[];

test('a cycle of three, hierarchical: the lowest priority is cancelled with a reason, and the others get their answers', async (t) => {
  const workspace = example(t, 'deadlock');
  succeeds(await workspace.guild('pump', '--all', '-q'));
  judge(workspace, { ...GOT_IT, release: GAVE_WAY.release });
  await wasTold(workspace, /the lowest priority gives way/);
  const [event] = events(workspace, 'deadlock.broken');
  assert.match(event!, /"victim":"release/);
  assert.match(event!, /"cycle":\[.*"turn:(coder|analyst|reviewer)"/);
  const session = workspace.read('sessions/reviewer.session.yaml');
  assert.match(session, /each waited for the next/, 'the victim gets the reason');
});

test('a cycle of three, mesh: the oldest wait is cancelled, and the others get their answers', async (t) => {
  const workspace = example(t, 'deadlock');
  toMesh(workspace);
  succeeds(await workspace.guild('pump', '--all', '-q'));
  judge(workspace, EITHER);
  await wasTold(workspace, /the wait that began first gives way/);
  const lost = RING.filter((root) => GAVE_WAY[root].test(resultOf(workspace, root)));
  assert.equal(lost.length, 1, 'one gives way');
  assert.match(events(workspace, 'deadlock.broken')[0]!, new RegExp(`"victim":"${lost[0]}`));
  for (const root of RING) if (root !== lost[0]) assert.match(resultOf(workspace, root), GOT_IT[root]);
});

for (const mode of sampleOf('ring, one killed', ['hierarchical', 'mesh'], 2)) {
  test(`a cycle of three, in three processes, ${mode}, one killed at random: all tasks end`, async (t) => {
    const workspace = example(t, 'deadlock');
    if (mode === 'mesh') toMesh(workspace);
    await killedAtRandom(t, workspace, [['coder'], ['analyst'], ['reviewer']], 60, RING);
    judge(workspace, EITHER);
    // If one process starts late, the cycle never closes and no request is cancelled.
    const lost = RING.filter((root) => GAVE_WAY[root].test(resultOf(workspace, root)));
    assert.ok(lost.length <= 1, `${lost.join(' and ')} gave way`);
  });
}

test('when all agents rest and a note is under way, the root ends only after the note is read', async (t) => {
  const workspace = await withEnoughTime(
    (ms) => stoppedInThought(t, ms),
    (workspace) => workspace !== undefined,
    5000,
  );
  assert.ok(workspace !== undefined, 'far was stopped while it thought');
  const { place: at, peers } = workspace;
  // The lead has answered, near is done, and another process scans the workspace: the root is still
  // open.
  await until(() => at.list('tasks/waiting').includes('roads.json') && leadSaid(at).includes('All roads are open.'));
  await until(() => at.list('tasks/completed').length === 1);
  await until(async () => /^lead +blocked/m.test((await at.guild('state')).out));
  await at.guild('pump', '-q');
  assert.deepEqual(at.list('results'), []);
  assert.match((await at.guild('state')).out, /^far +working/m);
  assert.match((await at.guild('why', 'roads')).out, /@far|far/);
  peers.at(-1)!.child.kill('SIGCONT');
  await until(() => isOver(at, ['roads']));
  await stopAgents(peers);
  const { roads } = judge(at, { roads: new RegExp(`^${ROADS.replaceAll('.', '\\.')}$`) });
  assert.equal(roads!.of, 3, 'three had to agree');
});

test('the last note, one process killed at random and restarted: the same result', async (t) => {
  const workspace = example(t, 'last-note');
  think(workspace, '300ms');
  await killedAtRandom(t, workspace, THREE, 40, ['roads']);
  judge(workspace, { roads: new RegExp(ROADS) });
});

always('each example fits on a screen', () => {
  for (const name of ['coordinator', 'mesh', 'deadlock', 'last-note']) {
    const readme = fs.readFileSync(path.join(ROOT, 'examples', name, 'README.md'), 'utf8');
    assert.ok(readme.split('\n').length <= 45, name);
    assert.ok(readme.includes(`guild init /tmp/${name} --example ${name} `), `${name} says how to run it`);
  }
});

const THREE = [['lead'], ['near'], ['far']];

/**
 * Stops the last process while its model thinks. Undefined if the process was too quick, and the
 * model has to think longer.
 */
async function stoppedInThought(t: TestContext, ms: number): Promise<{ place: Place; peers: Spawned[] } | undefined> {
  const workspace = example(t, 'last-note');
  think(workspace, `${ms}ms`);
  const peers = THREE.map((names) => startAgents(workspace, names));
  const hasIt = (): boolean => workspace.list('tasks/active').some((name) => name.includes('_far-'));
  await until(() => hasIt() || workspace.list('results').length > 0);
  peers.at(-1)!.child.kill('SIGSTOP');
  const hasSpoken = workspace.list('bus').includes('field.jsonl') && workspace.read('bus/field.jsonl') !== '';
  if (hasIt() && !hasSpoken) return { place: workspace, peers };
  for (const { child, ended } of peers) {
    child.kill('SIGKILL');
    await ended;
  }
  return undefined;
}

function think(workspace: Place, time: string): void {
  workspace.put('script.yaml', workspace.read('script.yaml').replace('wait: 5s', `wait: ${time}`));
}

function leadSaid(workspace: Place): string {
  const file = workspace.list('sessions').find((name) => name.startsWith('lead'));
  return file === undefined ? '' : workspace.read(`sessions/${file}`);
}

/**
 * Starts a process for each agent. After some events it kills one with `kill -9` and starts it
 * again, then waits until all tasks have ended.
 */
async function killedAtRandom(
  t: TestContext,
  workspace: Place,
  terminals: string[][],
  most: number,
  roots: readonly string[],
): Promise<void> {
  const seed = SEED;
  const moment = 1 + (seed % most);
  const at = Math.floor(seed / most) % terminals.length;
  t.diagnostic(`SEED=${seed}: ${terminals[at]!.join(' ')} is killed after ${moment} events`);
  const peers = terminals.map((names) => startAgents(workspace, names));
  await until(() => isOver(workspace, roots) || events(workspace, '"at"').length >= moment);
  peers[at]!.child.kill('SIGKILL');
  await peers[at]!.ended;
  peers[at] = startAgents(workspace, terminals[at]!);
  await until(() => isOver(workspace, roots));
  await stopAgents(peers);
}

const OPEN = ['pending', 'active', 'waiting'];

/**
 * The record decides: the page is there before it, even if the process dies in between. The folders
 * are listed twice, because a task that moves may be in none of the lists.
 */
function isOver(workspace: Place, roots: readonly string[]): boolean {
  const ended = [...workspace.list('tasks/completed'), ...workspace.list('tasks/failed')];
  return (
    roots.every((root) => ended.includes(`${root}.json`)) &&
    [...OPEN, ...OPEN].every((state) => workspace.list(`tasks/${state}`).length === 0)
  );
}

/**
 * Every root has its result and a clean certificate, and nothing is left. Returns the certificates.
 */
function judge(workspace: Place, roots: Record<string, RegExp>): Record<string, Certificate> {
  const certificates: Record<string, Certificate> = {};
  for (const [root, result] of Object.entries(roots)) {
    assert.match(resultOf(workspace, root), result);
    const { certificate } = recordOf(workspace, root);
    const { open, unread, effects, agreed, of } = certificate!;
    assert.deepEqual([open, unread, effects], [0, 0, 0], `${root} is certified`);
    assert.ok(agreed >= 1 && agreed <= of);
    certificates[root] = certificate!;
  }
  for (const state of OPEN) assert.deepEqual(workspace.list(`tasks/${state}`), [], state);
  return certificates;
}

function resultOf(workspace: Place, root: string): string {
  return recordOf(workspace, root).result;
}

function recordOf(workspace: Place, root: string): { result: string; certificate?: Certificate } {
  return JSON.parse(workspace.read(`tasks/completed/${root}.json`)) as { result: string; certificate?: Certificate };
}

async function wasTold(workspace: Place, rule: RegExp): Promise<void> {
  assert.equal(events(workspace, 'deadlock.broken').length, 1, 'it was found once');
  const notes = succeeds(await workspace.guild('notes', 'dependency')).out;
  assert.match(notes, /deadlock: .* → the conversation (coder|analyst|reviewer) → /);
  assert.match(notes, rule);
}

function events(workspace: Place, what: string): string[] {
  const lines = workspace.list('events').flatMap((file) => workspace.read(`events/${file}`).split('\n'));
  return lines.filter((line) => line.includes(what));
}

/** The one line that the README says to change. */
function toMesh(workspace: Place): void {
  const line = 'coordination: { mode: mesh }';
  assert.ok(workspace.read('README.md').includes(line));
  workspace.put('guild.yaml', workspace.read('guild.yaml').replace('coordination: { mode: hierarchical }', line));
}

function example(t: TestContext, name: string): Place {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples', name), workspace.root, { recursive: true });
  return workspace;
}
