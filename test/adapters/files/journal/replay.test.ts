/** Replay of a dead process's journal by the next process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines } from '../../../../src/adapters/files/journal/frames.js';
import { crashDisk } from '../../../kit/crash-disk.js';
import { sampleNumbers } from '../../../kit/sample.js';
import { simDisk, type SimDisk } from '../../../kit/sim-disk.js';
import { seeded } from '../../../kit/sim-processes.js';
import { AT, ground, record, says, session, takeOver, type Ground, type Started } from './ground.js';

/**
 * A process that leaves every kind of record behind: an end with its page, a parked and a released
 * task, a claim, a child, a conversation, an effect with its outcome, and events. With `isPlaced`
 * the files are there too; otherwise it dies with its last sync.
 */
async function busy(store: Started, disk: SimDisk, isPlaced: boolean, atLastSync = (): void => {}): Promise<void> {
  for (const id of ['ends', 'parks', 'goes', 'stays']) disk.save(`/w/tasks/pending/${id}.json`, record(id));
  await store.tasks.scan(true);
  const claim = async (id: string) => (await store.tasks.claim(id, 'ana'))!;
  const [ends, parks, goes, stays] = [
    await claim('ends'),
    await claim('parks'),
    await claim('goes'),
    await claim('stays'),
  ];
  await store.sessions.create(session('ends'), [], { durable: false });
  await store.sessions.append('ana-ends', [...says('first')], { durable: true });
  await store.sessions.append('ana-ends', [...says('second')], { durable: true });
  assert.equal(await store.effects.begin('act', 'digest', 'acts'), true);
  await store.effects.finish('act', { ok: true, value: { text: 'acted' } } as never);
  const child = { ...stays.task, id: 'stays.work', parent: 'stays', root: 'stays' };
  await store.tasks.create(child, { durable: false });
  store.events.append({ at: AT, name: 'task.claimed', peer: store.presence.peer.id, task: 'ends' });
  await store.tasks.settle(ends, { ...ends.task, session: 'ana-ends', result: 'It is done.' }, 'completed', {
    durable: false,
  });
  await store.tasks.park(parks, { ...parks.task, waits: { until: AT } }, { durable: false });
  const released = store.tasks.release(goes, { ...goes.task, attempts: 3 });
  if (isPlaced) await Promise.all([released, store.flush()]);
  else {
    atLastSync();
    await Promise.allSettled([released, store.flush({ visible: false })]);
  }
}

/**
 * The files as people and other processes read them. Readers skip event lines torn by a power cut.
 */
function seen(disk: SimDisk): Record<string, string> {
  const isPrivate = /\/\.guild\/(?:journal|tmp|torn|run)\/|\/agents\/live\//;
  const files = [...disk.tree()].filter(([file]) => !isPrivate.test(file));
  return Object.fromEntries(
    files.map(([file, text]) => [file, file.includes('/events/') ? text.replaceAll(/^(?!\{.*\}$).*\n/gm, '') : text]),
  );
}

async function left(isPlaced: boolean): Promise<Ground> {
  const world = ground();
  let isLast = false;
  const sync = async (file: string): Promise<void> => {
    await world.disk.sync(file);
    if (isLast) store.die();
  };
  const store = world.start({ disk: { ...world.disk, sync } });
  await busy(store, world.disk, isPlaced, () => (isLast = true));
  store.die();
  return world;
}

/** The state after a replay that nothing disturbs. */
async function expected(isPlaced: boolean): Promise<Record<string, string>> {
  const { disk, start, journals } = await left(isPlaced);
  const next = start();
  await takeOver(next);
  assert.deepEqual(journals(), []);
  const files = seen(disk);
  assert.match(files['/w/tasks/completed/ends.json'] ?? '', /It is done/);
  assert.match(files['/w/results/ends.md'] ?? '', /It is done/);
  assert.match(files['/w/sessions/ana-ends.session.yaml'] ?? '', /first[\s\S]*second/);
  assert.equal((await next.effects.get('act')).state, 'done');
  assert.ok(files['/w/tasks/waiting/parks.json'] && files['/w/tasks/pending/stays.work.json']);
  assert.match(files['/w/tasks/pending/goes.json'] ?? '', /"attempts": 3/);
  assert.equal(files['/w/events/2026-01-01.jsonl']?.split('\n').length, 2);
  return files;
}

for (const isPlaced of [false, true]) {
  const how = isPlaced ? 'whose files are there' : 'that owed all its files';
  test(`replaying the journal of a process ${how} twice changes nothing more`, async () => {
    const wanted = await expected(isPlaced);
    const { disk, start, journals } = await left(isPlaced);
    const saved = journals().map((name) => [name, bytesOf(disk, name)] as const);
    await takeOver(start());
    for (const [name, bytes] of saved) disk.create(`/w/.guild/journal/${name}`, bytes);
    await takeOver(start());
    assert.deepEqual(seen(disk), wanted);
    assert.deepEqual(journals(), []);
  });

  test(`a replay of a process ${how} may die at any change, and the power may fail then`, async () => {
    const wanted = await expected(isPlaced);
    for (const n of sampleNumbers(`replay ${how}`, 2)) {
      for (const seed of [0, n, n + 1000]) {
        const { disk, start, journals } = await left(isPlaced);
        const failing = crashDisk(disk, n);
        const second = start({ disk: failing });
        const isDead = await takeOver(second).then(
          () => false,
          () => true,
        );
        second.die();
        if (seed > 0) disk.powerCut(seeded(seed));
        await takeOver(start(seed > 0 ? { boot: 'another' } : {}));
        assert.deepEqual(seen(disk), wanted, `died at change ${n}, power cut ${seed}`);
        assert.deepEqual(journals(), []);
        if (!isDead && seed > 0) return assert.ok(n > 3, `only ${n} changes`);
      }
    }
  });
}

test('a closed journal is synced and removed by the next process, and its files survive the power cut after', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { disk, start, journals } = ground();
    const first = start();
    await busy(first, disk, true);
    const wanted = seen(disk);
    await first.close();
    first.die();
    assert.match(journals().join(), /\.closed$/);
    await takeOver(start());
    assert.deepEqual(journals(), []);
    disk.powerCut(seeded(seed));
    assert.deepEqual(seen(disk), wanted, `seed ${seed}`);
  }
});

test('a file that was in place and that a person deleted since stays deleted', async () => {
  const { disk, start } = await left(true);
  const gone = [
    '/w/tasks/completed/ends.json',
    '/w/tasks/waiting/parks.json',
    '/w/results/ends.md',
    '/w/sessions/ana-ends.session.yaml',
    '/w/.guild/run/act.started',
    '/w/events/2026-01-01.jsonl',
  ];
  for (const file of gone) assert.equal(disk.remove(file), true, file);
  await takeOver(start());
  assert.deepEqual(
    gone.filter((file) => disk.stamp(file) !== undefined),
    [],
  );
});

test('a file that a person edited after it was in place stays as it is', async () => {
  for (const boot of ['test', 'another']) {
    const { disk, start } = await left(true);
    const edits = {
      '/w/results/ends.md': 'Mine.\n',
      '/w/tasks/pending/goes.json': record('goes', 'do it well'),
    };
    for (const [file, text] of Object.entries(edits)) disk.save(file, text);
    await takeOver(start({ boot }));
    for (const [file, text] of Object.entries(edits))
      assert.equal(disk.tree().get(file), text, `${file}, boot ${boot}`);
  }
});

test('where the disk has neither the content before nor after, the file stays, ours is evidence, and it is named', async () => {
  const { disk, start } = await left(false);
  const claimed = disk.list('/w/tasks/active').find((name) => name.startsWith('goes_'))!;
  disk.remove(`/w/tasks/active/${claimed}`);
  disk.save('/w/tasks/waiting/goes.json', record('goes', 'wait for me'));
  const next = start();
  await takeOver(next);
  const { problems } = await next.tasks.scan(true);
  assert.deepEqual(
    problems.map(({ code, where }) => [code, where?.file]),
    [['duplicate', 'tasks/waiting/goes.json']],
  );
  assert.match(disk.tree().get('/w/tasks/waiting/goes.json')!, /wait for me/);
  assert.match(disk.tree().get(`/w/.guild/evidence/${claimed}`)!, /"attempts": 3/);
});

test('a second file that a person put under the target name is not replaced', async () => {
  const { disk, start } = await left(false);
  const mine = record('goes', 'mine');
  disk.save('/w/tasks/pending/goes.json', mine);
  await takeOver(start());
  assert.equal(disk.tree().get('/w/tasks/pending/goes.json'), mine);
});

/** The first line of the event log that is in the only journal. */
function eventLineIn(disk: SimDisk): string {
  const [name] = disk.list('/w/.guild/journal');
  const lines = readLines(bytesOf(disk, name!), name!.split('.')[0]!);
  const adds = lines.flatMap((line) => ('step' in line ? (line.step.adds ?? []) : []));
  return adds.find((add) => 'day' in add)!.text.split('\n')[0]!;
}

/** A file of a journal. */
function bytesOf(disk: SimDisk, name: string): Buffer {
  const read = disk.read(`/w/.guild/journal/${name}`);
  assert.ok(read.kind === 'file');
  return read.bytes;
}

test('event lines are added once, however often they are in journals or in the log', async () => {
  for (const seed of [0, 1, 2, 3, 4, 5]) {
    const { disk, start } = await left(false);
    const line = eventLineIn(disk);
    if (seed > 0) {
      disk.create('/w/events/2026-01-01.jsonl', `${line}\n`);
      disk.powerCut(seeded(seed));
    }
    await takeOver(start(seed > 0 ? { boot: 'another' } : {}));
    const lines = disk.tree().get('/w/events/2026-01-01.jsonl')!.split('\n');
    assert.equal(lines.filter((one) => one === line).length, 1, `seed ${seed}: ${lines.join('\n')}`);
  }
});

test('the end after a retry counts, not the end before it, when both processes died', async () => {
  for (const isPower of [false, true]) {
    const disk = simDisk();
    const { start } = ground(disk);
    disk.save('/w/tasks/pending/t.json', record('t'));
    const [first, second] = [start(), start()];
    await first.tasks.scan(true);
    const claim = (await first.tasks.claim('t', 'ana'))!;
    const error = { code: 'cancelled', message: 'No' } as const;
    assert.ok(await first.tasks.settle(claim, { ...claim.task, error }, 'failed'));
    await second.tasks.scan(true);
    assert.ok(await second.tasks.reopen('t', { ...claim.task, retries: 1 }));
    const again = (await second.tasks.claim('t', 'ana'))!;
    await second.tasks.settle(again, { ...again.task, result: 'Yes.' }, 'completed', { durable: false });
    await second.flush({ visible: false });
    first.die();
    second.die();
    if (isPower) disk.powerCut(seeded(3));
    await takeOver(start(isPower ? { boot: 'another' } : {}));
    assert.deepEqual([disk.list('/w/tasks/completed'), disk.list('/w/tasks/failed')], [['t.json'], []]);
    assert.match(disk.tree().get('/w/tasks/completed/t.json')!, /Yes/);
  }
});
