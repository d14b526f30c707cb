/**
 * Everything together, in real processes: the composed example, whole and killed with `kill -9` at several moments. What it
 * comes to, and what it costs, is the same.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, ROOT, succeeds, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';

const ANSWER = `# Announce online that the library opens on Sundays.

From May on we are open on Sundays, 10 to 16 h. Come and read!

Filed under: opening hours, Sunday, May
`;
const CALLS = 20;
/** Of its agents, how many can be asking a model at the same time. */
const AT_ONCE = 2;

test('the composed example: one command, the answer, and a tree that adds up', async (t) => {
  const here = composed(t);
  succeeds(await here.guild('pump', '--all', '-q'));
  assert.equal(here.read('results/sundays.md'), ANSWER);
  const drawn = succeeds(await here.guild('task', 'tree', 'sundays')).out;
  assert.match(drawn, /^completed sundays @desk .* 20 turns, \d+ tokens, \$0\.\d+/m);
  for (const part of [
    'route @press_office',
    'advisor @legal',
    'advisor @brand_desk',
    'member @writer',
    'member @editor',
    'check @press_office',
  ])
    assert.ok(drawn.includes(part), part);
  for (const part of ['handoff @archivist', 'call @indexer']) assert.ok(drawn.includes(part), part);
  assert.match(drawn, /round 2: \d+ tokens sent, \d+ if everybody were sent everything/);
  assert.equal(answered(here), CALLS);
  const [root, ...rest] = tree(JSON.parse(succeeds(await here.guild('task', 'tree', 'sundays', '--json')).out) as Node);
  for (const key of ['turns', 'input_tokens', 'output_tokens', 'usd'] as const) {
    const sum = [root!, ...rest].reduce((all, node) => all + (node.own[key] ?? 0), 0);
    assert.ok(Math.abs(sum - (root!.total[key] ?? 0)) < 1e-9, `${key} adds up`);
  }
});

for (const moment of [1, 5, 9, 13, 16, 19]) {
  test(`killed when ${moment} models have answered, and started again: the same answer, and nobody is asked for it twice`, async (t) => {
    const here = composed(t);
    const watch = here.start('watch', '-q');
    await until(() => answered(here) >= moment);
    watch.child.kill('SIGKILL');
    assert.equal((await watch.ended).code, null);
    if (here.list('results').includes('sundays.md')) t.diagnostic('it was done before it could be killed');
    succeeds(await here.guild('pump', '--all', '-q'));
    assert.equal(here.read('results/sundays.md'), ANSWER);
    const { total } = JSON.parse(succeeds(await here.guild('task', 'tree', 'sundays', '--json')).out) as Node;
    assert.equal(total.turns, CALLS, 'what is in the books is what it takes without a death');
    // A death between an answer and its line of history loses the line; one before the answer was kept asks again.
    const lines = answered(here);
    assert.ok(lines >= CALLS - AT_ONCE && lines <= CALLS + AT_ONCE, `${lines} answers were noted`);
    for (const state of ['pending', 'active', 'waiting']) assert.deepEqual(here.list(`tasks/${state}`), []);
  });
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
  const here = place(t);
  fs.cpSync(path.join(ROOT, 'examples/composed'), here.root, { recursive: true });
  return here;
}

function answered(here: Place): number {
  const lines = here.list('events').flatMap((file) => here.read(`events/${file}`).split('\n'));
  return lines.filter((line) => line.includes('"model.answered"')).length;
}
