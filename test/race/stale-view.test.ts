/**
 * Requests about a task that another process moves just while this process looks. Every possible
 * moment is tried.
 */
import assert from 'node:assert/strict';
import type { Intent } from '../../src/domain/task/intent.js';
import type { Disk } from '../../src/ports/disk.js';
import { cluster, ROOT, untilQuiet, type Cluster, type Proc } from '../kit/cluster.js';
import { suspended } from '../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 13);

const AT = '2026-01-01T00:00:00.000Z';
const SCRIPT = '- {agent: ana, when: faster, say: I heard it.}\n- {agent: ana, say: Done.}\n';

interface Scene {
  disk: SimDisk;
  world: Cluster;
  /** The other process, which holds the task `t`. */
  holder: Proc;
  claimed: string;
}

async function scene(): Promise<Scene> {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  const world = cluster(SCRIPT);
  const holder = world.start(disk);
  disk.save(`${ROOT}/tasks/pending/t.json`, JSON.stringify({ description: 'It takes long', to: 'ana' }));
  await holder.ports.tasks.scan(true);
  assert.ok(await holder.ports.tasks.claim('t', 'ana'));
  return { disk, world, holder, claimed: `${ROOT}/tasks/active/t_ana-${holder.ports.presence.peer.id}.json` };
}

/** One pass of another process for each moment at which it may be suspended. */
async function atEveryMoment(intent: Intent, judge: (scene: Scene, proc: Proc) => Promise<void>): Promise<void> {
  for (let n = 1, isOver = false; !isOver; n++) {
    const place = await scene();
    const { disk, claimed } = place;
    let own = suspended(disk, Infinity, () => undefined);
    const proc = place.world.start(new Proxy<Disk>(disk, { get: (_, key) => Reflect.get(own.disk, key) as unknown }));
    await proc.engine.pass('all', () => undefined, new Set());
    await place.holder.ports.intents.submit(intent);
    // The holder puts the task back, as a process does with a cancelled task.
    own = suspended(disk, n, () => void disk.rename(claimed, `${ROOT}/tasks/pending/t.json`));
    await proc.engine.pass('changed', () => undefined, new Set());
    isOver = own.isOver();
    await judge(place, proc);
  }
}

test('a cancel stays until its task has ended', async () => {
  await atEveryMoment({ kind: 'cancel', id: 'c', task: 't', by: 'human', at: AT }, async ({ disk }, proc) => {
    const isOpen = !disk.tree().has(`${ROOT}/tasks/failed/t.json`);
    if (isOpen) assert.equal(disk.list(`${ROOT}/.guild/intents`).length, 1, 'the cancel is lost');
    await untilQuiet(proc);
    assert.deepEqual(
      ['pending', 'failed'].map((state) => disk.list(`${ROOT}/tasks/${state}`)),
      isOpen && disk.list(`${ROOT}/tasks/active`).length > 0 ? [[], []] : [[], ['t.json']],
    );
  });
});

test('a message to a task reaches it', async () => {
  const intent: Intent = { kind: 'tell', id: 'm', task: 't', text: 'faster', by: 'human', at: AT };
  await atEveryMoment(intent, async ({ disk, claimed }, proc) => {
    disk.rename(claimed, `${ROOT}/tasks/pending/t.json`);
    await untilQuiet(proc);
    assert.deepEqual(disk.list(`${ROOT}/tasks/completed`), ['t.json']);
    assert.match(disk.tree().get(`${ROOT}/sessions/ana-t.session.yaml`)!, /faster[^]*I heard it/);
  });
});
