/** Agents that may run on some machines only. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { far, type FarStore } from '../../../src/adapters/far/index.js';
import type { Shelf } from '../../../src/adapters/far/shelf.js';
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import { HOME, labelsOf, withHomes } from '../../../src/app/far/homes.js';
import type { Task } from '../../../src/domain/task/task.js';
import type { Tasks } from '../../../src/ports/store/tasks.js';
import { place, scripted, succeeds } from '../../kit/guild.js';

interface Machine {
  store: FarStore;
  tasks: Tasks;
  isHere(agent: string, task?: Task): boolean;
  homes: Shelf;
  moves: string[];
  /** The reports about homes that name no machine. */
  held: string[];
}

function machine(t: TestContext, state: LedgerState, host: string, labels: string): Machine {
  const me = { host, bootId: host, pid: 1, startTime: '0' };
  const store = far({ ledger: memoryLedger(state), clock: clock(), ids: ids(), me });
  t.after(() => store.close().catch(() => undefined));
  const moves: string[] = [];
  const held: string[] = [];
  const homes = store.far.shelf(HOME);
  const { tasks, isHere } = withHomes(store.tasks, {
    agents: {
      all: () =>
        new Map([
          ['trainer', { runsOn: ['gpu'] }],
          ['ana', { runsOn: [] }],
        ]),
    },
    host,
    labels: labelsOf(host, { GUILD_LABELS: labels }),
    homes,
    hosts: async () => new Set((await store.presence.peers()).map((peer) => peer.host)),
    moved: (agent, from) => void moves.push(`${agent} from ${from}`),
    unreadable: (_, { message }) => void held.push(message),
  });
  return { store, tasks, isHere, homes, moves, held };
}

function task(id: string, to: string): Task {
  return {
    ...{ id, root: id, depth: 0, role: 'root', description: id, to, requirements: [], dependencies: [], context: {} },
    ...{ priority: 'C', created_by: 'human', created_at: '2026-01-01T00:00:00.000Z', attempts: 0, version: 1 },
  };
}

test('an agent runs only on a machine with its labels, and stays on the first one', async (t) => {
  const state = ledgerState();
  const [plain, one, two] = [
    machine(t, state, 'plain', ''),
    machine(t, state, 'one', 'linux, gpu'),
    machine(t, state, 'two', 'gpu'),
  ];
  for (const id of ['a', 'b', 'c']) await plain.tasks.create(task(id, 'trainer'));
  await plain.tasks.create(task('d', 'ana'));
  for (const { tasks } of [plain, one, two]) await tasks.scan();
  assert.equal(await plain.tasks.claim('a', 'trainer'), undefined, 'without the label');
  assert.ok(await one.tasks.claim('a', 'trainer'));
  await two.tasks.scan();
  assert.equal(await two.tasks.claim('b', 'trainer'), undefined, 'its home is elsewhere');
  assert.ok(await one.tasks.claim('b', 'trainer'));
  assert.ok(await plain.tasks.claim('d', 'ana'), 'others run anywhere');
  assert.deepEqual([...one.moves, ...two.moves], []);
});

test('a home whose last process is gone moves, and that is reported', async (t) => {
  const state = ledgerState();
  const [one, two] = [machine(t, state, 'one', 'gpu'), machine(t, state, 'two', 'gpu')];
  for (const id of ['a', 'b']) await one.tasks.create(task(id, 'trainer'));
  await one.tasks.scan();
  assert.ok(await one.tasks.claim('a', 'trainer'));
  await two.tasks.scan();
  assert.equal(await two.tasks.claim('b', 'trainer'), undefined);
  await one.store.close();
  await two.tasks.scan();
  assert.ok(await two.tasks.claim('b', 'trainer'));
  assert.deepEqual(two.moves, ['trainer from one']);
});

test('a task that has read secrets stays on the machine that keeps them while a process lives there', async (t) => {
  const state = ledgerState();
  const [one, two] = [machine(t, state, 'one', ''), machine(t, state, 'two', '')];
  const tied: Task = { ...task('a', 'ana'), written: { messages: 3, last: 'tool', secrets_on: 'one' } };
  for (const each of [tied, task('c', 'ana')]) await one.tasks.create(each);
  await one.tasks.scan();
  assert.ok(await one.tasks.claim('c', 'ana'));
  await two.tasks.scan();
  const read = two.tasks.getOpen('a')!.task;
  assert.deepEqual([one.isHere('ana', read), two.isHere('ana', read)], [true, false]);
  assert.ok(two.isHere('ana', task('b', 'ana')), 'other tasks of the agent run anywhere');
  await one.store.close();
  await two.tasks.scan();
  assert.ok(two.isHere('ana', read));
});

test('a home that names no machine holds its agent only, and is named once', async (t) => {
  for (const value of ['', '{', 'null', '{"host":5}', '[]']) {
    const state = ledgerState();
    const one = machine(t, state, 'one', 'gpu');
    await memoryLedger(state).commit('bad', { puts: [{ key: 'home/trainer', value, live: true }], adds: [] });
    await one.tasks.create(task('a', 'trainer'));
    await one.tasks.create(task('b', 'ana'));
    for (let round = 0; round < 3; round++) {
      await one.tasks.scan();
      assert.equal(await one.tasks.claim('a', 'trainer'), undefined, value);
      assert.deepEqual(await one.tasks.orphans(), []);
    }
    assert.ok(await one.tasks.claim('b', 'ana'), 'others go on');
    assert.equal(one.held.length, 1);
    assert.match(one.held[0]!, /home\/trainer/);
    const other = machine(t, state, 'two', '').homes;
    assert.ok(await other.replace('trainer', await other.read('trainer'), '{"host":"one"}'), 'a person moves it');
    await one.tasks.scan();
    assert.ok(await one.tasks.claim('a', 'trainer'));
  }
});

test('guild why names the machines that may run a task, and a machine with the label runs it', async (t) => {
  const here = place(
    t,
    scripted('- {agent: trainer, turn: 1, say: trained}\n', {
      'agents/trainer.md': '---\ndescription: Trains\nruns_on: [gpu]\n---\nTrain.\n',
    }),
  );
  succeeds(await here.guild('task', 'add', 'Train it', '--to', 'trainer', '--id', 'one'));
  await here.guild('pump', '--all');
  assert.match((await here.guild('why', 'one')).out, /is ready; a process on a machine with the label gpu runs it/);
  await here.guildWith({ env: { GUILD_LABELS: 'gpu' } }, 'pump', '--all');
  assert.match(succeeds(await here.guild('task', 'show', 'one')).out, /completed/);
});

test('guild agent move needs several machines, and says so', async (t) => {
  const trainer = '---\ndescription: Trains\nruns_on: [gpu]\n---\nTrain.\n';
  const here = place(t, {
    ...scripted('- {agent: boss, turn: 1, say: hello}\n'),
    'agents/trainer.md': trainer,
  });
  const { code, err } = await here.guild('agent', 'move', 'trainer', 'desk-2');
  assert.equal(code, 2);
  assert.match(err, /on one machine/);
  for (const [words, reason] of [
    [['trainer'], /needs the name of an agent and of a machine/],
    [['boss', 'desk-2'], /boss runs on every machine/],
    [['trainer', ''], /not the name of a machine/],
    [['trainer', '../desk\u001b[2J'], /not the name of a machine/],
    [['trainr', 'desk-2'], /trainer/],
  ] as const) {
    const refused = await here.guild('agent', 'move', ...words);
    assert.notEqual(refused.code, 0, words.join(' '));
    assert.match(refused.err, reason);
    assert.ok(!refused.err.includes('\u001b[2J'));
  }
});
