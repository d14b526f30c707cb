/** Old effects are folded into one file; a death at any point neither loses nor duplicates one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Store } from '../../../src/ports/store/index.js';
import { crashDisk } from '../../kit/crash-disk.js';
import { SEED } from '../../kit/seed.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { countedIds, seeded, simProcesses } from '../../kit/sim-processes.js';

const RUN = '/w/.guild/run';
const DONE = `${RUN}/done.jsonl`;
const IDS = ['t1.call-a', 't1.call-b', 't2.call-ä'];
let started = 0;
const processes = simProcesses();

/** The simulated disk dates every file to 1970, so every record on it is old. */
function open(disk: Disk, start?: string): { store: Store; die(): void } {
  const process = processes.start();
  const clock = simClock(start === undefined ? {} : { start });
  const ids = countedIds(`p${String(++started).padStart(4, '0')}`);
  return { store: files({ root: '/w', disk, clock, ids, processes: process }), die: process.die };
}

/** Effects that ended, one that did not, and one whose outcome an earlier version kept apart. */
async function worked(): Promise<SimDisk> {
  const sim = simDisk();
  const { store } = open(sim);
  for (const id of [...IDS, 'open']) assert.ok(await store.effects.begin(id, `digest of ${id}`, 'send'));
  for (const id of IDS) await store.effects.finish(id, { ok: true, text: `sent\n${id}` });
  await store.close();
  sim.save(`${RUN}/old.started`, '{"digest":"digest of old","at":"2025-01-01T00:00:00.000Z"}');
  sim.save(`${RUN}/old.done`, '{"ok":true,"text":"sent\\nold"}');
  return sim;
}

async function isComplete({ effects }: Store, why: string): Promise<void> {
  for (const id of [...IDS, 'old']) {
    const outcome = { ok: true, text: `sent\n${id}` };
    assert.deepEqual(await effects.get(id), { state: 'done', digest: `digest of ${id}`, outcome }, `${why}: ${id}`);
    assert.equal(await effects.begin(id, 'again', 'send'), false, `${why}: ${id} does not begin again`);
  }
  assert.equal((await effects.get('open')).state, 'started', why);
  assert.equal((await effects.get('never')).state, 'none', why);
}

function folded(disk: Disk): string[] {
  const read = disk.read(DONE);
  if (read.kind !== 'file') return [];
  return read.bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [(JSON.parse(line) as { id: string }).id];
      } catch {
        return [];
      }
    });
}

const own = (disk: Disk): string[] =>
  disk
    .list(RUN)
    .filter((name) => name !== 'done.jsonl')
    .sort();

test('records of effects that ended a day ago are in one file after the sweep of a process that works', async () => {
  const sim = await worked();
  const { store } = open(sim);
  await isComplete(store, 'before');
  await store.presence.sweep();
  assert.deepEqual(own(sim), ['open.started']);
  assert.deepEqual(folded(sim).sort(), [...IDS, 'old'].sort());
  await isComplete(store, 'after');
  await isComplete(open(sim).store, 'in another process');
  assert.deepEqual(own(sim), ['open.started']);
});

test('young records stay, and one sweep folds at most 500', async () => {
  const sim = await worked();
  await open(sim, '1970-01-01T12:00:00.000Z').store.presence.sweep();
  assert.deepEqual(folded(sim), []);
  for (let i = 0; i < 600; i++)
    sim.save(`${RUN}/n${i}.started`, '{"digest":"d","at":"x"}\n{"ok":true,"text":"done"}\n');
  const { store } = open(sim);
  await store.presence.sweep();
  assert.equal(folded(sim).length, 500);
  await store.presence.sweep();
  assert.equal(folded(sim).length, 604);
  await isComplete(store, 'after two sweeps');
});

test('a process that knows the file sees what another one adds to it', async () => {
  const sim = await worked();
  const { store } = open(sim);
  await open(sim).store.presence.sweep();
  await isComplete(store, 'first');
  sim.save(`${RUN}/late.started`, '{"digest":"d","at":"x"}\n{"ok":true,"text":"late"}\n');
  await open(sim).store.presence.sweep();
  assert.deepEqual(own(sim), ['open.started']);
  assert.equal((await store.effects.get('late')).state, 'done');
});

test('a death at any change of the sweep neither loses nor duplicates a record', async () => {
  for (let at = 1; ; at++) {
    const sim = await worked();
    const disk = crashDisk(sim, at);
    const { store, die } = open(disk);
    const hasEnded = await store.presence.sweep().then(
      () => true,
      () => false,
    );
    die();
    const next = open(sim).store;
    await isComplete(next, `died at ${at}`);
    await next.presence.sweep();
    await isComplete(next, `died at ${at} and swept again`);
    assert.deepEqual(folded(sim).sort(), [...IDS, 'old'].sort(), `died at ${at}`);
    assert.deepEqual(own(sim), ['open.started'], `died at ${at}`);
    if (hasEnded) return assert.ok(at > 5, `${at} changes`);
  }
});

test(`a power cut at any change of the sweep loses no record (SEED=${SEED})`, async () => {
  const random = seeded(SEED);
  for (let round = 0; round < 150; round++) {
    const sim = await worked();
    for (const name of sim.list(RUN)) sim.syncNow(`${RUN}/${name}`);
    sim.syncNow(RUN);
    const at = 1 + Math.floor(random() * 16);
    const { store, die } = open(crashDisk(sim, at));
    await store.presence.sweep().catch(() => undefined);
    die();
    sim.powerCut(random);
    const next = open(sim).store;
    await isComplete(next, `round ${round}, change ${at}`);
    await next.presence.sweep();
    await isComplete(next, `round ${round}, change ${at}, swept again`);
    assert.deepEqual(folded(sim).sort(), [...IDS, 'old'].sort(), `round ${round}, change ${at}`);
  }
});
