/** Workers and a person's folder on machines that share nothing but the database. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, scripted, succeeds, whileRunning, type Place, type Running } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';

const options = { skip: NO_POSTGRES };
const SCRIPT = `- {agent: ana, turn: 1, say: "done: {{task}}"}
`;

async function machines(t: TestContext, count: number): Promise<{ places: Place[]; end(): Promise<void> }> {
  const { server, schema, end } = await field();
  const files = scripted(SCRIPT, {
    'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n',
    'agents/slow.md': '---\ndescription: Answers late\n---\nAnswer.\n',
    'agents/asks.md': '---\ndescription: Asks\ntools: [execute_command]\n---\nAsk.\n',
  });
  files['guild.yaml'] += `store: ${server.url}?schema=${schema}\ncoordination: { lease: 2s }\ngit: false\n`;
  return { places: Array.from({ length: count }, () => place(t, files)), end };
}

async function stopped(...running: Running[]): Promise<void> {
  for (const one of running) one.interrupt();
  await Promise.all(running.map(({ ended }) => ended));
}

const has = (here: Place, file: string): boolean => fs.existsSync(path.join(here.root, file));
const read = (here: Place, file: string): string => fs.readFileSync(path.join(here.root, file), 'utf8');

test('a dropped file is done on another machine, and its result comes back', options, async (t) => {
  const { places, end } = await machines(t, 2);
  const [desk, worker] = places as [Place, Place];
  succeeds(await desk.guild('publish'));
  const running = [worker.start('watch'), desk.start('sync')];
  await whileRunning(running, running[1]!.says(/shows the store/));
  desk.put('tasks/pending/one.json', '{ "description": "in my own style", "to": "ana" }');
  await whileRunning(
    running,
    until(() => has(desk, 'results/one.md')),
  );
  assert.match(read(desk, 'results/one.md'), /done: one/);
  await until(() => has(desk, 'tasks/completed/one.json') && !has(desk, 'tasks/pending/one.json'));
  assert.equal(has(worker, 'tasks/completed/one.json'), false, 'a worker has no records');
  const events = fs.readdirSync(path.join(desk.root, 'events'));
  await until(() => read(desk, `events/${events[0]!}`).includes('task.completed'));
  assert.match(read(desk, 'sessions/ana-one.session.yaml'), /done: one/);
  // Deleted files come back, and the store does not forget.
  fs.rmSync(path.join(desk.root, 'tasks/completed/one.json'));
  await until(() => has(desk, 'tasks/completed/one.json'));
  await stopped(...running);
  await end();
});
