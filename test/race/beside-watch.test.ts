/** People and programs that read or copy the folder while `guild watch` works. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, ROOT, scripted, succeeds, whileRunning, type Place, type Spawned } from '../kit/guild.js';
import { until, withEnoughTime } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 0);

const TASKS = 30;
const READER = path.join(ROOT, 'test/storm/reader.mjs');
const script = (wait: string): string => `
- { agent: boss, turn: 1, wait: ${wait}, call: [{ delegate_to_agent: { agent: hand, task: write } }] }
- { agent: boss, turn: 2, wait: ${wait}, say: "answer of {{task}}" }
- { agent: hand, turn: 1, wait: ${wait}, call: [{ write_file: { path: "workspaces/hand/{{task}}.txt", content: "by {{task}}" } }] }
- { agent: hand, turn: 2, wait: ${wait}, say: "written by {{task}}" }
`;

function office(t: TestContext, wait = '5ms'): Place {
  const hand = '---\ndescription: Writes\ntools: [write_file]\n---\nWrite.\n';
  const here = place(t, scripted(script(wait), { 'agents/hand.md': hand }));
  for (let n = 0; n < TASKS; n++)
    here.put(`tasks/pending/t${n}.json`, JSON.stringify({ description: `Task ${n}`, to: 'boss' }));
  return here;
}

/** `cp` names files that move while it reads; nothing else may go wrong. */
function copyAll(from: string, to: string): void {
  const { stderr } = spawnSync('cp', ['-a', `${from}/.`, to], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const said = stderr.split('\n').filter((line) => line !== '' && !line.endsWith('No such file or directory'));
  assert.deepEqual(said, []);
}

const roots = (names: readonly string[]): string[] => names.filter((name) => /^t\d+\.json$/.test(name));
const ended = (here: Pick<Place, 'list'>): number => roots(here.list('tasks/completed')).length;

test('a program that reads every file in a loop while guild watch works never sees a part of one', async (t) => {
  const here = office(t);
  const reader = spawn(process.execPath, [READER, here.root], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  reader.stdout.on('data', (data) => said.push(String(data)));
  const watch = here.spawn('watch');
  await whileRunning(
    [watch],
    until(() => ended(here) === TASKS),
  );
  watch.interrupt();
  await watch.ended;
  reader.stdin.end();
  await once(reader, 'close');
  const { reads, torn } = JSON.parse(said.join('')) as { reads: number; torn: string[] };
  assert.deepEqual(torn, []);
  assert.ok(reads > TASKS, `${reads} reads prove too little`);
});

test('a copy that is made while guild watch works has every task, and can be finished', async (t) => {
  const { here, watch, copy } = await withEnoughTime(
    (ms) => copyAtWork(t, ms),
    ({ copy }) => ended(copy) < TASKS,
    5,
  );
  assert.ok(ended(copy) < TASKS, 'the copy was made during the work');
  for (let passes = 0; passes < 10 && ended(copy) < TASKS; passes++) succeeds(await copy.guild('pump'));
  assert.equal(ended(copy), TASKS, copy.list('tasks/active').concat(copy.list('tasks/waiting')).join());
  for (const state of ['pending', 'active', 'waiting', 'failed'])
    assert.deepEqual(copy.list(`tasks/${state}`), [], state);
  for (let n = 0; n < TASKS; n++) {
    assert.match(copy.read(`results/t${n}.md`), new RegExp(`answer of t${n}\n`));
    assert.equal((JSON.parse(copy.read(`tasks/completed/t${n}.json`)) as { result: string }).result, `answer of t${n}`);
  }
  // A copy does not show one instant: a task that moved meanwhile can be in it under two names.
  const twins = copy.list('quarantine').filter((name) => name.endsWith('.json'));
  for (const name of twins) assert.ok(copy.list('tasks/completed').includes(name), `${name} was not finished`);
  fs.rmSync(path.join(copy.root, 'quarantine'), { recursive: true, force: true });
  succeeds(await copy.guild('check'));
  await whileRunning(
    [watch],
    until(() => ended(here) === TASKS),
  );
  watch.interrupt();
  assert.equal((await watch.ended).code, 0);
});

/** As docs/how-to/back-up.md says. On a busy machine it comes too late unless the work is slow. */
async function copyAtWork(t: TestContext, waitMs: number): Promise<{ here: Place; watch: Spawned; copy: Place }> {
  const [here, copy] = [office(t, `${waitMs}ms`), place(t)];
  const watch = here.spawn('watch');
  await whileRunning(
    [watch],
    until(() => ended(here) >= 3),
  );
  copyAll(here.root, copy.root);
  copyAll(path.join(here.root, '.guild/journal'), path.join(copy.root, '.guild/journal'));
  return { here, watch, copy };
}

test('when guild run exits, its record, page and conversation can be read under their names', async (t) => {
  const here = place(t, scripted('- { agent: boss, say: Forty-two. }\n'));
  succeeds(await here.spawn('run', 'boss', 'How much?').ended);
  const [record] = here.list('tasks/completed');
  assert.match(here.read(`tasks/completed/${record}`), /Forty-two/);
  assert.match(here.read(`results/${here.list('results')[0]}`), /Forty-two/);
  assert.match(here.read(`sessions/${here.list('sessions')[0]}`), /Forty-two/);
  assert.deepEqual(here.list('tasks/active'), []);
  assert.match(here.list('.guild/journal').join(), /\.closed$/);
});
