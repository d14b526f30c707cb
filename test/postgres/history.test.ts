/** History of a store in PostgreSQL: kept at one desk, named everywhere else. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { readHistoryDesk } from '../../src/app/far/history-desk.js';
import type { Commit } from '../../src/ports/history.js';
import { place, scripted, succeeds, whileRunning, type Place, type Running } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field, type Field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/history', 1);
const NOTE = 'memory/note.md';

async function machines(t: TestContext): Promise<{ places: Place[] } & Field> {
  const made = await field();
  const { server, schema } = made;
  const files = scripted('- {agent: ana, turn: 1, say: "done: {{task}}"}\n', {
    'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n',
  });
  files['guild.yaml'] += `store: ${server.url}?schema=${schema}\ncoordination: { lease: 2s }\n`;
  return { ...made, places: Array.from({ length: 3 }, () => place(t, files)) };
}

async function stop(running: Running): Promise<void> {
  running.interrupt();
  await running.ended;
}

const read = ({ root }: Place, file: string): string | undefined =>
  fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file), 'utf8') : undefined;
const commits = async (here: Place, ...more: string[]): Promise<Commit[]> =>
  JSON.parse(succeeds(await here.guild('log', '--json', ...more)).out) as Commit[];

test('a desk keeps history and undoes there; others name it', { skip: NO_POSTGRES }, async (t) => {
  const { places, ledger, end } = await machines(t);
  const [desk, worker, other] = places as [Place, Place, Place];
  succeeds(await desk.guild('publish'));
  assert.match((await other.guild('log')).err, /no desk keeps its history; guild sync DIR --history/);
  const works = worker.start('watch');
  let syncs = desk.start('sync', '--history');
  const during = <T>(what: Promise<T>): Promise<T> => whileRunning([works, syncs], what);
  await during(syncs.says(/shows the store/));

  const folder = fs.realpathSync(desk.root);
  const named = new RegExp(`history is kept by \\S+@\\S+ in ${folder}`);
  assert.match((await other.guild('log')).err, named);
  assert.match((await worker.guild('undo', 'HEAD~1')).err, named);
  const second = await other.guild('sync', '--history');
  assert.match(second.err, new RegExp(`already kept by \\S+ in ${folder}`));
  assert.equal(fs.existsSync(path.join(other.root, '.guild/history.git')), false, 'it wrote none');

  desk.put('tasks/pending/one.json', '{ "description": "Do it", "to": "ana" }');
  desk.put(NOTE, 'first\n');
  await during(until(() => read(worker, NOTE) === 'first\n' && read(desk, 'results/one.md') !== undefined));
  await stop(syncs);
  assert.match((await other.guild('log')).err, /where guild sync --history does not run now/);
  const [before] = await commits(desk);
  assert.ok((await commits(desk, '--task', 'one')).some(({ subject }) => subject.includes('ana answered')));

  syncs = desk.start('sync', '--history');
  await during(syncs.says(/shows the store/));
  // Its process is declared dead and has another name from then on.
  const store = ledger();
  const peer = (await readHistoryDesk(store))!.desk.peer;
  const buried = { key: `peer/${peer}`, value: '{}', live: false };
  await store.commit('bury', { puts: [buried], adds: [] });
  await during(until(async () => (await readHistoryDesk(store))!.desk.peer !== peer));
  assert.equal((await readHistoryDesk(store))!.isRunning, true);
  await store.close();
  desk.put(NOTE, 'second\n');
  await during(until(() => read(worker, NOTE) === 'second\n'));
  succeeds(await desk.guild('undo', before!.id, '--yes'));
  await during(until(() => read(worker, NOTE) === 'first\n'));
  const back = (await commits(desk)).find(({ subject }) => subject.startsWith('undo: back to'));
  assert.match((await desk.guild('undo', back!.id)).err, /nothing would change/, 'the commit has what the undo did');
  // A task that is newer than the commit is gone, and can be made again.
  const done = (await commits(desk))[0]!;
  desk.put('tasks/pending/two.json', '{ "description": "Do it too", "to": "ana" }');
  await during(until(() => read(desk, 'results/two.md') !== undefined));
  await during(until(async () => (await commits(desk, '--task', 'two')).length > 0));
  succeeds(await during(desk.guild('undo', done.id, '--yes')));
  await during(until(() => read(desk, 'results/two.md') === undefined));
  assert.match((await other.guild('task', 'show', 'two')).err, /no task/);
  assert.equal(read(desk, 'sessions/ana-two.session.yaml'), undefined);
  desk.put('tasks/pending/two.json', '{ "description": "Do it now", "to": "ana" }');
  await during(until(() => read(desk, 'results/two.md') !== undefined));
  assert.match(succeeds(await other.guild('task', 'show', 'two')).out, /Do it now/);
  await stop(syncs);
  desk.put(NOTE, 'third\n');
  assert.match((await desk.guild('undo', before!.id, '--yes')).err, /does not run in this folder/);
  assert.equal(read(desk, NOTE), 'third\n');
  await stop(works);
  await end();
});
