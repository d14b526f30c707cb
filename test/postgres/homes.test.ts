/** Homes of agents on a real server: moved by a person, and when the home is gone. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { clock, ids } from '../../src/adapters/clock/index.js';
import { far, type FarStore } from '../../src/adapters/far/index.js';
import { HOME, homesOf } from '../../src/app/far/homes.js';
import type { Problem } from '../../src/domain/problem.js';
import type { Tasks } from '../../src/ports/store/tasks.js';
import { task } from '../contract/store/bench.js';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field, type Field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 5);

const options = { skip: NO_POSTGRES };
const LEASE_MS = 1000;

interface Machine {
  store: FarStore;
  tasks: Tasks;
  problems: Problem[];
}

function machine(t: TestContext, { ledger }: Field, host: string): Machine {
  const me = { host, bootId: host, pid: 1, startTime: '0' };
  const store = far({ ledger: ledger(), clock: clock(), ids: ids(), me, leaseMs: LEASE_MS });
  t.after(() => store.close().catch(() => undefined));
  const problems: Problem[] = [];
  const { tasks } = homesOf(store, {
    agents: { all: () => new Map([['trainer', { runsOn: ['gpu'] }]]) },
    env: { GUILD_LABELS: 'gpu' },
    homes: store.far.shelf(HOME),
    report: (problem) => void problems.push(problem),
  });
  return { store, tasks, problems };
}

function desk(t: TestContext, { server, schema }: Field): Place {
  const files = scripted('- {say: trained}\n', {
    'agents/trainer.md': '---\ndescription: Trains\nruns_on: [gpu]\n---\nTrain.\n',
  });
  files['guild.yaml'] += `store: ${server.url}?schema=${schema}\n`;
  return place(t, files);
}

async function claims({ tasks }: Machine, id: string): Promise<boolean> {
  await tasks.scan();
  return (await tasks.claim(id, 'trainer')) !== undefined;
}

test('a person moves the home of an agent to another machine', options, async (t) => {
  const given = await field();
  const [one, two] = [machine(t, given, 'one'), machine(t, given, 'two')];
  for (const id of ['a', 'b', 'c']) await one.tasks.create({ ...task(id), to: 'trainer' });
  assert.ok(await claims(one, 'a'));
  await two.store.presence.join();
  assert.equal(await claims(two, 'b'), false, 'its home is elsewhere');
  const moved = succeeds(await desk(t, given).guild('agent', 'move', 'trainer', 'two', '--json'));
  const { from, to } = JSON.parse(moved.out) as { from: string; to: string };
  assert.deepEqual({ from, to }, { from: 'one', to: 'two' });
  assert.ok(await claims(two, 'b'));
  assert.equal(await claims(one, 'c'), false, 'the old home takes nothing more');
  const [event] = (await one.store.events.list()).filter(({ name }) => name === 'home.moved');
  assert.equal(event?.['cause'], 'human');
  assert.deepEqual([...one.problems, ...two.problems], []);
  await given.end();
});

test('the home of an agent moves when its last process is gone, and that is reported', options, async (t) => {
  const given = await field();
  const [one, two] = [machine(t, given, 'one'), machine(t, given, 'two')];
  for (const id of ['a', 'b']) await one.tasks.create({ ...task(id), to: 'trainer' });
  assert.ok(await claims(one, 'a'));
  await two.store.presence.join();
  assert.equal(await claims(two, 'b'), false);
  one.store.stop(); // as after kill -9: it renews nothing, and reports nothing
  await until(() => claims(two, 'b'));
  assert.match(two.problems[0]!.message, /the home of trainer is two from now on: no process runs on one any more/);
  assert.deepEqual(await two.tasks.orphans(), ['a'], 'its work moves too');
  assert.ok(await two.tasks.takeOver('a'));
  await two.store.flush();
  const [event] = (await two.store.events.list()).filter(({ name }) => name === 'home.moved');
  assert.deepEqual([event?.['from'], event?.['to']], ['one', 'two']);
  await given.end();
});

test('a home that names no machine is named, and a person can move its agent', options, async (t) => {
  const given = await field();
  const one = machine(t, given, 'one');
  await one.tasks.create({ ...task('a'), to: 'trainer' });
  const other = given.ledger();
  await other.commit('bad', { puts: [{ key: 'home/trainer', value: '{', live: true }], adds: [] });
  await other.close();
  assert.equal(await claims(one, 'a'), false);
  assert.match(one.problems[0]!.message, /home\/trainer in the store names no machine/);
  assert.match(one.problems[0]!.hint!, /guild agent move trainer/);
  succeeds(await desk(t, given).guild('agent', 'move', 'trainer', 'one'));
  assert.ok(await claims(one, 'a'));
  await given.end();
});
