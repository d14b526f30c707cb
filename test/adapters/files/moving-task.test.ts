/** A task that another process moves while this one looks for it is neither lost nor made twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import { makeTask } from '../../../src/domain/task/task.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Store } from '../../../src/ports/store/index.js';
import { crashDisk, suspended } from '../../kit/crash-disk.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';

const TASK = '{"description": "do it", "to": "ana", "created_at": "2026-01-01T00:00:00.000Z"}';
const NAMES = {
  pending: '/w/tasks/pending/t.json',
  waiting: '/w/tasks/waiting/t.json',
  active: '/w/tasks/active/t_ana-00000001.json',
  leaving: '/w/tasks/active/t_ana-00000001.json.leaving',
  completed: '/w/tasks/completed/t.json',
};
type Name = keyof typeof NAMES;
/** The owner's renames of a task's file, one after the other. */
const MOVES: readonly Name[][] = [
  ['pending', 'active'],
  ['active', 'leaving'],
  ['leaving', 'waiting'],
  ['leaving', 'pending'],
  ['leaving', 'completed'],
  ['active', 'leaving', 'waiting'],
  ['active', 'leaving', 'pending'],
  ['waiting', 'active', 'leaving', 'waiting', 'active'],
  ['pending', 'active', 'leaving', 'completed'],
];

interface Scene {
  disk: SimDisk;
  join(disk?: Disk): Store & { die(): void };
  move(names: readonly Name[]): void;
}

/** The first process that joins has the claims of `NAMES`. */
async function scene(at: Name): Promise<Scene> {
  const disk = simDisk();
  const processes = simProcesses();
  const ids = countedIds();
  const join: Scene['join'] = (own = disk) => {
    const process = processes.start();
    const store = files({ root: '/w', disk: own, clock: simClock(), ids, processes: process });
    return Object.assign(store, { die: process.die });
  };
  await join().presence.join();
  disk.save(NAMES[at], TASK);
  const move: Scene['move'] = (names) => {
    for (let to = 1; to < names.length; to++)
      assert.ok(disk.rename(NAMES[names[to - 1]!], NAMES[names[to]!]), `${names[to - 1]} to ${names[to]}`);
  };
  return { disk, join, move };
}

/** Tries every moment at which the process may be suspended. */
async function atEveryMoment(
  moves: readonly Name[],
  attempt: (store: Store, suspend: (n: number) => void, scene: Scene) => Promise<void>,
): Promise<void> {
  for (let n = 1, isOver = false; !isOver; n++) {
    const place = await scene(moves[0]!);
    let own = suspended(place.disk, Infinity, () => undefined);
    const indirect = new Proxy<Disk>(place.disk, { get: (_, key) => Reflect.get(own.disk, key) as unknown });
    const store = place.join(indirect);
    await store.presence.join();
    await store.tasks.scan(true);
    await attempt(store, (after) => (own = suspended(place.disk, after + n, () => place.move(moves))), place);
    isOver = own.isOver();
  }
}

for (const moves of MOVES) {
  const title = moves.join(' → ');
  const isOpen = moves.at(-1) !== 'completed';

  test(`${title}: a scan does not lose an open task`, async () => {
    await atEveryMoment(moves, async (store, suspend) => {
      suspend(0);
      const { gone = [] } = await store.tasks.scan();
      if (!isOpen) return;
      assert.ok(store.tasks.isOpen('t'));
      assert.deepEqual(gone, []);
    });
  });

  test(`${title}: a read finds the task`, async () => {
    await atEveryMoment(moves, async (store, suspend) => {
      suspend(0);
      assert.equal((await store.tasks.read('t'))?.task.description, 'do it');
    });
  });

  test(`${title}: a task with this id cannot be created`, async () => {
    await atEveryMoment(moves, async (store, suspend, { disk, join }) => {
      suspend(0);
      const task = makeTask({ id: 't', description: 'another', created_by: 'human', created_at: '2026-01-01' });
      assert.equal(await join(disk).tasks.create(task), false);
      assert.equal(await store.tasks.create(task), false);
    });
  });
}

test('a live process that takes a task of a dead one during the replay keeps it, and there is one file', async () => {
  for (let change = 1, isDead = true; isDead; change++) {
    for (let n = 1, isOver = false; !isOver; n++) {
      const { disk, join } = await scene('waiting');
      const first = join(crashDisk(disk, change));
      isDead = await parked(first).then(
        () => false,
        () => true,
      );
      first.die();
      const other = join();
      await other.presence.join();
      await other.tasks.scan();
      const claimed = `/w/tasks/active/t_ana-${other.presence.peer.id}.json`;
      const own = suspended(disk, n, () => void disk.rename(NAMES.waiting, claimed));
      const store = join(own.disk);
      await store.presence.sweep();
      isOver = own.isOver();
      const names = [...disk.tree().keys()].filter((file) => /^\/w\/(tasks|quarantine)\/.*\bt[._]/.test(file));
      assert.equal(names.length, 1, `change ${change}, call ${n}: ${names.join()}`);
    }
  }
});

/** Claims the task and parks it again; it may die at any change. */
async function parked(store: Store): Promise<void> {
  await store.tasks.scan(true);
  const claim = (await store.tasks.claim('t', 'ana'))!;
  await store.tasks.park(claim, { ...claim.task, attempts: 1 });
  await store.flush();
}
