/** Whoever follows what changed knows the same as whoever looks at everything. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { lines, type Lines } from '../../src/engine/lines.js';
import { hall, ROOT } from '../kit/hall.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay } from '../kit/stories.js';

const STEPS = ['drop', 'edit', 'take away', 'claim', 'park', 'release', 'end', 'part', 'look'] as const;

test('lines kept in step by what changed are those that a look at everything gives, whatever happens in between', async () => {
  const step = fc.record({ kind: fc.constantFrom(...STEPS), of: fc.nat(4) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const disk = simDisk();
      lay(disk, { name: 's', agents: {}, tasks: {}, script: '', results: {}, calls: 0 });
      const { store } = hall('- {say: x}').enter(disk).parts;
      const kept = lines(store);
      const held = new Map<string, NonNullable<ReturnType<typeof store.claim>>>();
      for (const [n, { kind, of }] of steps.entries()) {
        const id = `t${of}`;
        const file = path.join(ROOT, `tasks/pending/${id}.json`);
        const claim = held.get(id);
        if (kind === 'drop' || kind === 'edit') {
          const record = { description: `${n}`, to: n % 2 ? 'ann' : 'ben', priority: n % 3 ? 'B' : 'C' };
          if (kind === 'edit' ? disk.stamp(file) !== undefined : (await store.read(id)) === undefined)
            disk.save(file, JSON.stringify(record));
          await store.scan(true);
        }
        if (kind === 'take away') disk.remove(file);
        if (kind === 'claim' && claim === undefined) {
          const mine = store.claim(id, 'ann');
          if (mine !== undefined) held.set(id, mine);
        }
        if (claim !== undefined && (kind === 'park' || kind === 'release' || kind === 'end')) {
          held.delete(id);
          if (kind === 'park') await store.park(claim, claim.task, { behind: true });
          else if (kind === 'release') await store.release(claim, claim.task);
          else await store.settle(claim, { ...claim.task, result: 'x' }, 'completed');
        }
        if (kind === 'part')
          await store.create({
            ...PART,
            id: `${id}.work`,
            parent: id,
            root: id,
            created_at: new Date(n).toISOString(),
          });
        if (kind === 'look') {
          await store.scan(true);
          assert.deepEqual(shown(kept), shown(lines(store)));
        }
      }
      assert.deepEqual(shown(kept), shown(lines(store)));
    }),
    { numRuns: 60 },
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

/** Without the numbers by which they are told apart. */
function shown(all: Lines): unknown {
  const going = all.underWay().map((one) => [one.task.id, one.state, one.held, one.task]);
  const rows = [...all.all()].map((row) => row.map(({ task }) => task));
  return { going: sorted(going), rows: sorted(rows) };
}

function sorted(all: readonly unknown[]): string[] {
  return all.map((one) => JSON.stringify(one)).sort();
}
