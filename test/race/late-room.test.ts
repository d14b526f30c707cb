/**
 * Limits on a slow store. A process adds a task to its flights before it waits for anything, so
 * that overlapping passes do not start a task twice or use the same capacity twice. Between
 * processes the claims decide.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Proc } from '../kit/cluster.js';
import { lateCluster, type LateCluster } from '../kit/late/cluster.js';
import { sampleRounds } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import type { Story } from '../kit/stories.js';

const SHARED = Array.from({ length: 5 }, (_, n) => `shared${n}`);
const AGENTS = ['one', 'two', 'many', ...SHARED];
const MOST: Record<string, number> = { one: 1, two: 2, many: Infinity };
const PARALLEL = 3;
const TASKS = 3 * AGENTS.length;

const STORY: Story = {
  name: 'limits',
  agents: {
    one: '---\ndescription: A\nmax_concurrent_tasks: 1\n---\nDo it.\n',
    two: '---\ndescription: B\nmax_concurrent_tasks: 2\n---\nDo it.\n',
    many: '---\ndescription: C\n---\nDo it.\n',
    ...Object.fromEntries(SHARED.map((name) => [name, '---\ndescription: D\nsession: shared\n---\nDo it.\n'])),
  },
  tasks: Object.fromEntries(
    Array.from({ length: TASKS }, (_, n) => [`t${n}`, { description: 'Do it', to: AGENTS[n % AGENTS.length] }]),
  ),
  script: '- {say: Done.}',
  results: {},
  calls: TASKS,
};

interface Watched {
  start(): Proc;
  /** The most tasks of each agent, and of each process, that asked a model at the same time. */
  highest: Map<string, number>;
}

function watched({ start }: LateCluster, random: () => number): Watched {
  const busy = new Map<string, number>();
  const highest = new Map<string, number>();
  const add = (name: string, by: number): void => {
    const now = (busy.get(name) ?? 0) + by;
    busy.set(name, now);
    highest.set(name, Math.max(now, highest.get(name) ?? 0));
  };
  return {
    highest,
    start() {
      const proc = start();
      proc.ports.config.limits.parallel = PARALLEL;
      const { call } = proc.ports.model;
      proc.ports.model = {
        async call(request) {
          const names = [request.agent, proc.store.presence.peer.id];
          for (const name of names) add(name, 1);
          for (let turns = Math.floor(random() * 8); turns > 0; turns--) await new Promise(setImmediate);
          for (const name of names) add(name, -1);
          return call(request);
        },
      };
      return proc;
    },
  };
}

function check(late: LateCluster, { highest }: Watched, label: string): void {
  for (const [name, most] of highest) {
    const limit = SHARED.includes(name) ? 1 : (MOST[name] ?? PARALLEL);
    assert.ok(most <= limit, `${label}: ${most} at once of ${name}`);
  }
  assert.equal(late.procs.calls.length, STORY.calls, `${label}: model calls`);
  const open = [...late.world.rows.values()].filter(({ state }) => state !== 'completed');
  assert.deepEqual(open, [], label);
}

/** Passes until nothing moves and nothing is in flight. */
async function passes({ engine }: Proc): Promise<void> {
  for (let quiet = 0, count = 0; quiet < 3; count++) {
    assert.ok(count < 500, 'still moving after 500 passes');
    const { moved } = await engine.pass('changed', () => undefined);
    await new Promise(setImmediate);
    quiet = moved || engine.flights.size > 0 ? 0 : quiet + 1;
  }
}

test(`overlapping passes of one process keep every limit (SEED=${SEED})`, async () => {
  for (const round of sampleRounds('late room', 40, 20)) {
    const random = seeded(SEED + round);
    const late = lateCluster(STORY, random);
    const all = watched(late, random);
    const proc = all.start();
    await Promise.all([passes(proc), passes(proc), passes(proc)]);
    check(late, all, `round ${round}, SEED=${SEED}`);
  }
});

for (const count of [2, 3]) {
  test(`${count} processes keep the limits of agents (SEED=${SEED})`, async () => {
    for (const round of sampleRounds(`late room ${count}`, 40, 20)) {
      const random = seeded(SEED + round);
      const late = lateCluster(STORY, random);
      const all = watched(late, random);
      await Promise.all(Array.from({ length: count }, () => all.start()).map(passes));
      check(late, all, `round ${round}, SEED=${SEED}`);
    }
  });
}
