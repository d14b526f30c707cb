/** The queue that follows changes equals one that is built from scratch. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { readyQueue, type ReadyQueue } from '../../../src/engine/core/ready-queue.js';
import type { Store } from '../../../src/ports/store/index.js';
import type { Claim } from '../../../src/ports/store/tasks.js';
import { cluster, ROOT } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const STEPS = ['drop', 'edit', 'take away', 'claim', 'park', 'release', 'end', 'part', 'say', 'look'] as const;
const IDS = ['t0', 't1', 't2', 't3', 't4'];

test('the incremental queue equals a fresh one after any sequence of changes', async () => {
  const step = fc.record({ kind: fc.constantFrom(...STEPS), of: fc.nat(4) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const disk = simDisk();
      writeStory(disk, { name: 's', agents: {}, tasks: {}, script: '', results: {}, calls: 0 });
      const { store } = cluster('- {say: x}').start(disk);
      const kept = readyQueue(store.tasks);
      const claims = new Map<string, Claim>();
      for (const [n, { kind, of }] of steps.entries()) {
        const id = `t${of}`;
        const file = path.join(ROOT, `tasks/pending/${id}.json`);
        const claim = claims.get(id);
        if (kind === 'drop' || kind === 'edit') {
          const dependencies = n % 2 ? [] : IDS.filter((_, i) => i !== of && (n >> i) % 3 === 1);
          const record = { description: `${n}`, to: n % 2 ? 'ann' : 'ben', priority: n % 3 ? 'B' : 'C', dependencies };
          if (kind === 'edit' ? disk.stamp(file) !== undefined : (await store.tasks.read(id)) === undefined)
            disk.save(file, JSON.stringify(record));
          await store.tasks.scan(true);
        }
        if (kind === 'take away') disk.remove(file);
        if (kind === 'claim' && claim === undefined) {
          const mine = await store.tasks.claim(id, 'ann');
          if (mine !== undefined) claims.set(id, mine);
        }
        if (claim !== undefined && (kind === 'park' || kind === 'release' || kind === 'end')) {
          claims.delete(id);
          if (kind === 'park') await store.tasks.park(claim, claim.task, { durable: false });
          else if (kind === 'release') await store.tasks.release(claim, claim.task);
          else await store.tasks.settle(claim, { ...claim.task, result: 'x' }, 'completed');
        }
        if (kind === 'part')
          await store.tasks.create({
            ...PART,
            id: `${id}.work`,
            parent: id,
            root: id,
            created_at: new Date(n).toISOString(),
          });
        if (kind === 'say' && !store.tasks.isOpen(id)) kept.ended(id);
        if (kind === 'look') {
          await store.tasks.scan(true);
          assert.deepEqual(shown(kept), shown(freshQueue(store, kept)));
        }
      }
      assert.deepEqual(shown(kept), shown(freshQueue(store, kept)));
    }),
    { numRuns: 60 },
  );
});

/** A queue built from scratch that knows the same ended dependencies. */
function freshQueue(store: Store, kept: ReadyQueue): ReadyQueue {
  const all = readyQueue(store.tasks);
  all.underWay();
  for (const id of IDS) if (kept.hasEnded(id)) all.ended(id);
  for (const id of IDS) assert.ok(!kept.hasEnded(id) || !store.tasks.isOpen(id), `${id} is open`);
  return all;
}

test('a task behind an open dependency is checked when that ends, and then becomes ready', async () => {
  const disk = simDisk();
  const tasks = { a: { description: 'A' }, b: { description: 'B', dependencies: ['a'], to: 'ann' } };
  writeStory(disk, { name: 's', agents: {}, tasks, script: '', results: {}, calls: 0 });
  const { store } = cluster('- {say: x}').start(disk);
  await store.tasks.scan(true);
  const kept = readyQueue(store.tasks);
  const going = (): string[] => kept.underWay().map(({ task }) => task.id);
  assert.deepEqual([going(), kept.find('b'), kept.behind('b')?.task.id], [[], undefined, 'b']);
  const claim = (await store.tasks.claim('a', 'ann'))!;
  assert.deepEqual(going(), ['a']);
  await store.tasks.settle(claim, { ...claim.task, result: 'x' }, 'completed');
  assert.deepEqual(going(), ['b'], 'the end of the dependency is still to be checked');
  kept.ended('a');
  assert.deepEqual([going(), kept.find('b')?.task.id], [[], 'b']);
  await store.tasks.reopen('a', claim.task);
  assert.deepEqual(
    [going(), kept.behind('b')?.task.id, kept.hasEnded('a')],
    [[], 'b', false],
    'the dependency is reopened',
  );
});

const PART = {
  role: 'work' as const,
  description: 'x',
  depth: 0,
  to: 'ann',
  requirements: [],
  dependencies: [],
  context: {},
  priority: 'C' as const,
  attempts: 0,
  version: 1,
};

/** Without the arrival numbers, which differ. */
function shown(all: ReadyQueue): unknown {
  const going = all.underWay().map(({ task, state, held }) => [task.id, state, held, task]);
  const rows = [...all.all()].map((row) => row.map(({ task }) => task));
  return { going: sorted(going), rows: sorted(rows) };
}

function sorted(all: readonly unknown[]): string[] {
  return all.map((entry) => JSON.stringify(entry)).sort();
}
