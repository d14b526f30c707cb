/**
 * The composed example in real processes, uninterrupted and killed with `kill -9` at several
 * moments: the result and the cost are the same.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { standIns } from '../../src/adapters/models/stand-ins/index.js';
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { place, ROOT, succeeds, type Place } from '../kit/guild.js';
import { unclosedJournals } from '../kit/temp/journals.js';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';

const test = sampleTests('examples/composed', 3);

const ANSWER = `# Announce online that the library opens on Sundays.

From May on we are open on Sundays, 10 to 16 h. Come and read!

Filed under: opening hours, Sunday, May
`;
const CALLS = 16;
/** How many of its agents can call a model at the same time. */
const AT_ONCE = 2;

test('the composed example: one command, the answer, and a tree that adds up', async (t) => {
  const workspace = composed(t);
  succeeds(await workspace.guild('pump', '--all', '-q'));
  assert.equal(workspace.read('results/sundays.md'), ANSWER);
  const drawn = succeeds(await workspace.guild('task', 'tree', 'sundays')).out;
  assert.match(drawn, /^completed sundays @desk .* 16 turns, \d+ tokens, \$0\.\d+/m);
  for (const part of [
    'route-press_office @press_office',
    'advisor-legal @legal',
    'advisor-brand_desk @brand_desk',
    'member-writer-1 @writer',
    'member @editor',
    'check-1 @press_office',
  ])
    assert.ok(drawn.includes(part), part);
  for (const part of ['handoff-archivist @archivist', ' @indexer']) assert.ok(drawn.includes(part), part);
  assert.match(drawn, /round 2: \d+ tokens sent, \d+ if every member were sent everything/);
  assert.equal(answered(workspace), CALLS);
  const [root, ...rest] = tree(
    JSON.parse(succeeds(await workspace.guild('task', 'tree', 'sundays', '--json')).out) as Node,
  );
  for (const key of ['turns', 'input_tokens', 'output_tokens', 'usd'] as const) {
    const sum = [root!, ...rest].reduce((all, node) => all + (node.own[key] ?? 0), 0);
    assert.ok(Math.abs(sum - (root!.total[key] ?? 0)) < 1e-9, `${key} adds up`);
  }
});

for (const moment of sampleOf('composed, killed while asked', [0, 4, 8, 12, 15], 5)) {
  test(`killed when ${moment} models have answered, and watched again: the same answer, and only interrupted calls are repeated`, async (t) => {
    const workspace = composed(t);
    const server = await modelServer(t, workspace);
    server.hold(moment);
    const watch = workspace.spawnWith(server, 'watch', '-q');
    await until(() => server.held() > 0 && answered(workspace) >= moment);
    watch.child.kill('SIGKILL');
    assert.equal((await watch.ended).code, null);
    assert.ok(!workspace.list('results').includes('sundays.md'), 'it was killed in the middle');
    server.hold(Infinity);
    await watchedToTheEnd(workspace, server);
    const twice = server.asked() - CALLS;
    assert.ok(twice >= 1 && twice <= AT_ONCE, `${twice} were asked twice`);
    const { total } = JSON.parse(succeeds(await workspace.guild('task', 'tree', 'sundays', '--json')).out) as Node;
    assert.equal(total.turns, CALLS, 'what is in the books is what it takes without a death');
  });
}

for (const moment of sampleOf('composed, killed at a call', [1, 5, 9, 13], 4)) {
  test(`killed as soon as call ${moment} comes in, with models that answer immediately: no answered call is repeated`, async (t) => {
    const workspace = composed(t);
    const server = await modelServer(t, workspace);
    const watch = workspace.spawnWith(server, 'watch', '-q');
    await server.reached(moment, () => watch.child.kill('SIGKILL'));
    await watch.ended;
    const atDeath = server.asked();
    await watchedToTheEnd(workspace, server);
    const twice = server.asked() - CALLS;
    assert.ok(twice <= AT_ONCE, `${twice} were asked twice, after a death at ${atDeath}`);
    assert.deepEqual(unclosedJournals(workspace.list('.guild/journal')), [], 'no journal is left to replay');
  });
}

test('recorded from a model server, it is played again when the server is gone', async (t) => {
  const workspace = composed(t);
  const server = await modelServer(t, workspace);
  succeeds(await workspace.guildWith(server, 'record', 'kept/sundays.jsonl', '--no-check', 'pump', '--all', '-q'));
  assert.equal(server.asked(), CALLS);
  await server.close();
  const again = succeeds(await workspace.guildWith(server, 'replay', 'kept/sundays.jsonl', '--dir', 'again'));
  assert.match(again.out, new RegExp(`^same: \\d+ files, ${CALLS} model calls, none of them repeated`, 'm'));
  assert.equal(workspace.read('again/results/sundays.md'), ANSWER);
  assert.equal(server.asked(), CALLS);
});

/** Another process takes over: the answer is the same, and nothing is left open. */
async function watchedToTheEnd(workspace: Place, server: Server): Promise<void> {
  const again = workspace.spawnWith(server, 'watch', '-q');
  // The page is there a moment before the record.
  await until(() => workspace.list('tasks/completed').includes('sundays.json'));
  again.child.kill('SIGTERM');
  await again.ended;
  assert.equal(workspace.read('results/sundays.md'), ANSWER);
  for (const state of ['pending', 'active', 'waiting']) assert.deepEqual(workspace.list(`tasks/${state}`), []);
}

interface Server {
  env: Record<string, string>;
  /** Calls that came in. */
  asked(): number;
  /** Only this many of the first calls are answered; the rest wait. */
  hold(after: number): void;
  /** Calls that were not answered. */
  held(): number;
  /** Calls `then` when call `count` comes in, before it is answered. */
  reached(count: number, then: () => void): Promise<void>;
  close(): Promise<void>;
}

/** The script of the example behind real HTTP, in place of the one inside. */
async function modelServer(t: TestContext, workspace: Place): Promise<Server> {
  const script = scripted(workspace.read('script.yaml'));
  workspace.put('guild.yaml', 'model: openai/story\n');
  workspace.put('script.yaml', '[]');
  let asked = 0;
  let held = 0;
  let most = Infinity;
  let awaited: { count: number; ring: () => void } | undefined;
  const server = await standIns({
    model: {
      async call(request) {
        if (++asked === awaited?.count) awaited.ring();
        if (asked > most) {
          held++;
          await new Promise((resolve) => request.signal?.addEventListener('abort', resolve));
          return { ok: false, failure: { class: 'aborted', message: 'the caller is dead' } };
        }
        // A member keeps one conversation; each round starts with a message to it.
        const { messages } = request;
        const lastUser = messages.findLastIndex((message) => message.role === 'user');
        const turn = messages.slice(lastUser).filter((message) => message.role === 'assistant').length + 1;
        return script.call({ ...request, turn });
      },
    },
  });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await server.close();
    open = false;
  };
  t.after(close);
  return {
    env: { OPENAI_BASE_URL: server.url },
    asked: () => asked,
    hold: (after) => (most = after),
    held: () => held,
    reached: (count, then) =>
      new Promise((resolve) => {
        awaited = { count, ring: () => (then(), resolve()) };
      }),
    close,
  };
}

interface Node {
  own: Record<string, number | undefined>;
  total: Record<string, number | undefined>;
  children: Node[];
}

function tree(node: Node): Node[] {
  return [node, ...node.children.flatMap(tree)];
}

function composed(t: TestContext): Place {
  const workspace = place(t);
  fs.cpSync(path.join(ROOT, 'examples/composed'), workspace.root, { recursive: true });
  return workspace;
}

function answered(workspace: Place): number {
  const lines = workspace.list('events').flatMap((file) => workspace.read(`events/${file}`).split('\n'));
  return lines.filter((line) => line.includes('"model.answered"')).length;
}
