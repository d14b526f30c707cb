/**
 * The work of a run, counted in calls of the disk and in passes. The clock stands still and the
 * disk is in memory, so the counts are the same on every machine. A change that needs less work
 * lowers the bounds.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeTask, type Placed } from '../../../src/domain/task/task.js';
import { driver } from '../../../src/engine/pass/driver.js';
import type { Disk } from '../../../src/ports/disk.js';
import { files } from '../../../src/adapters/files/index.js';
import { cluster, ROOT, WHEN_ASKED } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk } from '../../kit/sim-disk.js';
import { simProcesses } from '../../kit/sim-processes.js';
import { agent } from '../../kit/stories/story.js';

const STAGES = 5;
const WARM_UPS = 5;
const SCRIPT = `
- {agent: reader, turn: 1, call: {read_file: {path: memory/facts.md}}}
- {agent: "*", say: Done.}
`;

/** Groups of calls of the disk, and passes of the engine. */
type Work = Record<'looks' | 'shared looks' | 'reads' | 'lists' | 'writes' | 'names' | 'syncs' | 'passes', number>;

const GROUPS: Partial<Record<keyof Disk, keyof Work>> = {
  stamp: 'looks',
  glance: 'shared looks',
  read: 'reads',
  readFrom: 'reads',
  list: 'lists',
  create: 'writes',
  append: 'writes',
  writeOwn: 'writes',
  patch: 'writes',
  rename: 'names',
  link: 'names',
  remove: 'names',
  sync: 'syncs',
  syncNow: 'syncs',
  syncFolder: 'syncs',
};

function noWork(): Work {
  return { looks: 0, 'shared looks': 0, reads: 0, lists: 0, writes: 0, names: 0, syncs: 0, passes: 0 };
}

function start() {
  const disk = simDisk();
  const add = (name: string, front: string): void =>
    disk.save(`${ROOT}/agents/${name}.md`, agent(`description: ${name}\n${front}`));
  disk.save(`${ROOT}/memory/facts.md`, 'The runtime is podman.\n');
  add('reader', 'tools: [read_file]');
  for (let n = 1; n <= STAGES; n++) add(`stage-${n}`, n < STAGES ? `handoff: stage-${n + 1}` : 'tools: []');
  let work = noWork();
  const counted = new Proxy<Disk>(disk, {
    get(target, name: keyof Disk) {
      const group = GROUPS[name];
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (group !== undefined) work[group]++;
        return method.apply(target, args);
      };
    },
  });
  const store = { root: ROOT, disk: counted, processes: simProcesses().start(), lag: WHEN_ASKED };
  const { ports, engine } = cluster(SCRIPT, [], WHEN_ASKED, simClock()).start(counted, {
    store: (given) => files({ ...store, ...given }),
  });
  const { pass } = engine;
  engine.pass = (...args) => (work.passes++, pass(...args));
  const drive = driver(ports, engine);
  let count = 0;
  return {
    async run(to: string): Promise<Placed> {
      const id = `t${++count}`;
      await ports.presence.join();
      assert.ok(await ports.tasks.create(makeTask({ id, to, description: 'Go', created_at: '2026-01-01T00:00:00Z' })));
      return drive.finish(id, { isNew: true });
    },
    /** The work of one run, on average. */
    async costOf(runs: number, body: () => Promise<Placed[]>): Promise<Work> {
      work = noWork();
      for (const { state } of await body()) assert.equal(state, 'completed');
      return Object.fromEntries(Object.entries(work).map(([what, calls]) => [what, calls / runs])) as Work;
    },
  };
}

/** A test fails above these counts. Each is about a fifth above the measured count. */
const MOST: Record<string, { agent: string; runs: number; work: Work }> = {
  'one run': {
    agent: 'reader',
    runs: 1,
    work: { looks: 50, 'shared looks': 47, reads: 1, lists: 4, writes: 14, names: 11, syncs: 3, passes: 1 },
  },
  'a chain of five': {
    agent: 'stage-1',
    runs: 1,
    work: { looks: 90, 'shared looks': 138, reads: 0, lists: 10, writes: 35, names: 39, syncs: 3, passes: 1 },
  },
  'each of three hundred runs at once': {
    agent: 'reader',
    runs: 300,
    work: { looks: 29, 'shared looks': 44, reads: 1, lists: 4, writes: 10, names: 11, syncs: 0.25, passes: 0.1 },
  },
};

for (const [name, { agent: to, runs, work: most }] of Object.entries(MOST)) {
  test(`${name} needs no more work than it did`, async () => {
    const { run, costOf } = start();
    for (let warm = 0; warm < WARM_UPS; warm++) await run(to);
    const cost = await costOf(runs, () => Promise.all(Array.from({ length: runs }, () => run(to))));
    for (const [what, bound] of Object.entries(most) as [keyof Work, number][])
      assert.ok(cost[what] <= bound, `${what}: ${cost[what]} a run, at most ${bound}: ${JSON.stringify(cost)}`);
  });
}
