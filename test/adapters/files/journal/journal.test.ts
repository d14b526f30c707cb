/** The journal of a live process: when a line is safe, what its files hold, and how it fails. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deadJournals } from '../../../../src/adapters/files/journal/dead-journals.js';
import { readLines } from '../../../../src/adapters/files/journal/frames.js';
import { journal, MAX_SEGMENTS, type Journal } from '../../../../src/adapters/files/journal/journal.js';
import type { Step } from '../../../../src/adapters/files/journal/step.js';
import { StoreFailed } from '../../../../src/domain/fence.js';
import type { Disk } from '../../../../src/ports/disk.js';
import { simDisk, type SimDisk } from '../../../kit/sim-disk.js';
import { seeded } from '../../../kit/sim-processes.js';
import { turn } from '../../../kit/until.js';

const PEER = 'peer0001';
const FOLDER = '/j';
const SPARE = '/tmp/peer0001-journal';
const OWNER = { host: 'test', bootId: 'test', pid: 1, startTime: '0' };

interface Ground {
  disk: SimDisk;
  log: Journal;
  /** Files and folders in the order in which they were synced. */
  synced: string[];
  /** The monotonic clock. By default each look at it is an hour later. */
  clock: { stepMs: number };
}

function ground(change: (disk: SimDisk) => Partial<Disk> = () => ({}), moved: Record<string, string> = {}): Ground {
  const disk = simDisk();
  disk.makeFolder(FOLDER);
  disk.makeFolder('/files');
  disk.makeFolder('/tmp');
  const synced: string[] = [];
  const clock = { stepMs: 60 * 60_000 };
  let now = 0;
  const counting: Disk = {
    ...disk,
    sync: (file) => (synced.push(file), disk.sync(file)),
    syncFolder: (folder) => (synced.push(folder), disk.syncFolder(folder)),
    // The file stays open: bytes written after its name is gone are lost.
    writeOwn: (file, offset, bytes) => void (disk.stamp(file) && disk.writeOwn(file, offset, bytes)),
    ...change(disk),
  };
  const log = journal({
    disk: counting,
    folder: FOLDER,
    peer: PEER,
    owner: OWNER,
    whereIs: (key) => moved[key],
    spare: SPARE,
    beforeFirst: () => undefined,
    monotonicMs: () => (now += clock.stepMs),
  });
  return { disk, log, synced, clock };
}

/** The steps on the disk, of all files of the journal in order. */
function stepsOn(disk: SimDisk): Step[] {
  const files = disk.list(FOLDER).sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]));
  return files.flatMap((name) => {
    const read = disk.read(`${FOLDER}/${name}`);
    const lines = read.kind === 'file' ? readLines(read.bytes, PEER) : [];
    return lines.flatMap((line) => ('step' in line ? line.step : []));
  });
}

const effect = (id: string, text = 'x'): { effect: string; text: string } => ({ effect: id, text });
/** Text that takes this many bytes in a journal, although its lines are compressed. */
const dense = (bytes: number): string =>
  createHash('shake256', { outputLength: bytes }).update('seed').digest('base64').replaceAll(/[+/=]/g, '');
const BIG = dense(20_000);

test('one sync covers all lines that wait for it', async () => {
  const { log, synced } = ground();
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      log.put(effect(`e${i}`));
      await log.durable(log.line());
    }),
  );
  const ofJournal = synced.filter((file) => file.endsWith('.log'));
  assert.ok(ofJournal.length <= 2, `${ofJournal.length} syncs: the first, and one for all that came during it`);
});

test('a line that is on the device needs no second sync', async () => {
  const { log, synced } = ground();
  log.put(effect('a'));
  const line = log.line();
  assert.equal(log.isDurable(line), false);
  await log.durable(line);
  assert.equal(log.isDurable(line), true);
  const before = synced.length;
  await log.durable(line);
  assert.equal(synced.length, before);
});

test('a sync under way covers every line that was written before it', async () => {
  const { log, synced } = ground();
  log.put(effect('a'));
  const first = log.durable();
  await Promise.all([first, log.durable(), log.durable(log.line())]);
  assert.equal(synced.filter((file) => file.endsWith('.log')).length, 1);
});

test('an acknowledged line survives a power cut', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { disk, log } = ground();
    log.put(effect('a', 'kept'));
    await log.durable();
    log.put(effect('b', 'perhaps'));
    await turn();
    disk.powerCut(seeded(seed));
    assert.deepEqual(stepsOn(disk)[0], { puts: [effect('a', 'kept')] }, `seed ${seed}`);
  }
});

test('everything of one turn of the event loop is one line, written before the turn ends', async () => {
  const { disk, log } = ground();
  log.put({ task: 't', state: 'active', agent: 'ana', text: '{}' });
  log.add({ session: 's', at: 0, text: 'hello' });
  log.add({ day: '2026-01-01', text: '{}\n' });
  log.placed('task t', '/files/t');
  assert.deepEqual(stepsOn(disk), []);
  await turn();
  const [step, ...more] = stepsOn(disk);
  assert.deepEqual(more, []);
  assert.deepEqual([step!.puts?.length, step!.adds?.length, step!.placed], [1, 2, ['task t']]);
});

test('in one line, what is dropped comes before what is put, and a new put is not placed', async () => {
  const { disk, log } = ground();
  log.put(effect('a', 'first'));
  log.drop('effect a');
  log.put(effect('a', 'second'));
  log.placed('effect a', '/files/a');
  log.put(effect('a', 'third'));
  await turn();
  assert.deepEqual(stepsOn(disk), [{ puts: [effect('a', 'second'), effect('a', 'third')], dropped: ['effect a'] }]);
});

test('a journal file is retired when all files that it describes are synced, and not before', async () => {
  const { disk, log, synced } = ground();
  disk.create('/files/a', BIG);
  log.put(effect('a', BIG));
  log.put(effect('b', 'small'));
  await turn();
  log.put(effect('c', BIG));
  await log.durable();
  assert.deepEqual(disk.list(FOLDER).sort(), [`${PEER}.1.log`, `${PEER}.2.log`]);
  log.placed('effect a', '/files/a');
  await log.durable();
  assert.equal(disk.list(FOLDER).length, 2, 'b has no file yet');
  disk.create('/files/b', 'small');
  log.placed('effect b', '/files/b');
  assert.equal(disk.list(FOLDER).length, 2, 'the syncs are not done yet');
  await log.close(false);
  assert.deepEqual(disk.list(FOLDER), [`${PEER}.2.log`]);
  for (const file of ['/files/a', '/files/b', '/files'])
    assert.ok(synced.includes(file), `${file} was synced: ${synced.join(' ')}`);
});

test('a full journal file stays until the system has written its files, or the journal is large', async () => {
  const { disk, log, synced, clock } = ground();
  clock.stepMs = 1;
  const change = async (n: number): Promise<void> => {
    disk.create(`/files/e${n}`, BIG);
    log.put(effect(`e${n}`, BIG));
    log.placed(`effect e${n}`, `/files/e${n}`);
    await log.durable();
  };
  const ofFiles = (): number => synced.filter((file) => file.startsWith('/files/')).length;
  for (let n = 0; n < 30; n++) await change(n);
  assert.equal(ofFiles(), 0, 'the files are too young to be synced');
  assert.ok(disk.list(FOLDER).length > 2, 'the journal still has them');
  clock.stepMs = 40_000;
  await change(30);
  await log.close(false);
  assert.ok(ofFiles() > 0, 'they are synced once they are old');

  const busy = ground();
  busy.clock.stepMs = 0;
  const whole = dense(240_000); // nearly a file of the journal
  for (let n = 0; n < MAX_SEGMENTS + 16; n++) {
    busy.disk.create(`/files/e${n}`, 'x');
    busy.log.put(effect(`e${n}`, whole));
    busy.log.placed(`effect e${n}`, `/files/e${n}`);
    await busy.log.durable();
  }
  for (let n = 0; n < 1000 && busy.disk.list(FOLDER).length > MAX_SEGMENTS; n++) await turn();
  assert.equal(busy.disk.list(FOLDER).length, MAX_SEGMENTS);
});

test('a journal file is reused, and its old lines never count', async () => {
  let reused = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const { disk, log } = ground((real) => ({
      rename: (from, to) => ((reused += from === SPARE ? 1 : 0), real.rename(from, to)),
    }));
    let acknowledged = 0;
    // Every change is in place at once, so files of the journal are removed as the next ones fill.
    for (let n = 0; n < 40 + seed; n++) {
      const key = `e${n}`;
      disk.create(`/files/${key}`, BIG);
      log.put(effect(key, BIG));
      log.placed(`effect ${key}`, `/files/${key}`);
      if (n % 3 === seed % 3) continue;
      await log.durable();
      acknowledged = n;
    }
    disk.powerCut(seeded(seed));
    const missing = Array.from({ length: acknowledged + 1 }, (_, n) => `e${n}`).filter((key) => !isKept(disk, key));
    assert.deepEqual(missing, [], `seed ${seed}`);
  }
  assert.ok(reused > 60, `${reused} files were used again`);
});

/** In its file, or in a line that the next process replays. */
function isKept(disk: SimDisk, key: string): boolean {
  const read = disk.read(`/files/${key}`);
  return (read.kind === 'file' && read.bytes.toString() === BIG) || replayedOn(disk).has(key);
}

function replayedOn(disk: SimDisk): Set<string> {
  const processes = { me: () => ({ ...OWNER, bootId: 'next' }), isAlive: () => false };
  const dead = deadJournals({ disk, folder: FOLDER, shown: 'j', me: 'next', processes, isPeerAlive: () => false });
  const puts = dead.look().flatMap(({ steps }) => steps.flatMap((step) => step.puts ?? []));
  return new Set(puts.flatMap((put) => ('effect' in put ? put.effect : [])));
}

test('a file of the journal that was used before, with nothing new on the device, holds nothing', async () => {
  const { disk, log } = ground();
  log.put(effect('a'));
  await log.durable();
  // The name of the next file reached the device, but its content did not.
  disk.link(`${FOLDER}/${PEER}.1.log`, `${FOLDER}/${PEER}.2.log`);
  assert.deepEqual([...replayedOn(disk)], ['a']);
  disk.remove(`${FOLDER}/${PEER}.1.log`);
  assert.deepEqual([...replayedOn(disk)], []);
});

test('a file that another process moved is synced under its new name before its lines go', async () => {
  const { disk, log, synced } = ground(undefined, { 'task t': '/files/moved' });
  log.put({ task: 't', state: 'waiting', text: BIG });
  await turn();
  log.put(effect('c', BIG));
  await turn();
  disk.create('/files/moved', BIG);
  log.placed('task t', '/files/waiting');
  await log.close(false);
  assert.deepEqual(disk.list(FOLDER), [`${PEER}.2.log`]);
  assert.ok(synced.includes('/files/moved'), synced.join(' '));
});

test('a line larger than a file of the journal gets a file of its size', async () => {
  const { disk, log } = ground();
  const text = dense(600_000);
  log.put(effect('a', text));
  await log.durable();
  assert.equal(stepsOn(disk)[0]!.puts![0]!.text, text);
});

test('a journal that a person deletes is written again, and no change is in it twice', async () => {
  const { disk, log } = ground();
  disk.create('/files/a', 'x');
  log.put(effect('a'));
  log.placed('effect a', '/files/a');
  log.put(effect('b', 'unplaced'));
  log.add({ session: 's', at: 0, text: 'one' });
  await log.durable();
  for (const name of disk.list(FOLDER)) disk.remove(`${FOLDER}/${name}`);
  log.add({ session: 's', at: 3, text: 'two' });
  const durable = log.durable();
  queueMicrotask(() => log.add({ session: 's', at: 6, text: 'six' }));
  await durable;
  await log.durable();
  const steps = stepsOn(disk);
  const texts = steps.flatMap(({ adds = [] }) => adds.map(({ text }) => text));
  assert.deepEqual(texts, ['one', 'two', 'six']);
  assert.deepEqual(
    steps.flatMap(({ puts = [] }) => puts),
    [effect('b', 'unplaced')],
  );
});

test('the content of a deleted journal is durable before anything more is acknowledged', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { disk, log } = ground();
    disk.create('/files/a', 'content');
    log.put(effect('a', 'content'));
    log.placed('effect a', '/files/a');
    await log.durable();
    for (const name of disk.list(FOLDER)) disk.remove(`${FOLDER}/${name}`);
    log.put(effect('b', 'later'));
    await log.durable();
    disk.powerCut(seeded(seed));
    assert.equal(disk.tree().get('/files/a'), 'content', `seed ${seed}`);
    assert.deepEqual(
      stepsOn(disk).flatMap(({ puts = [] }) => puts),
      [effect('b', 'later')],
    );
  }
});

test('a process whose journal another one replays acknowledges nothing more', async () => {
  const { disk, log } = ground();
  log.put(effect('a'));
  await log.durable();
  disk.rename(`${FOLDER}/${PEER}.1.log`, `${FOLDER}/${PEER}.1.log.peer0002`);
  log.put(effect('b'));
  await assert.rejects(log.durable(), { code: 'ESTALE' });
  await assert.rejects(log.durable(1), StoreFailed);
  assert.throws(() => log.put(effect('c')), StoreFailed);
  await log.close(true).catch(() => undefined);
  assert.deepEqual(disk.list(FOLDER), [`${PEER}.1.log.peer0002`]);
});

test('a failed sync is final: nothing more is acknowledged, and the file is not synced again', async () => {
  let [isBroken, syncs] = [false, 0];
  const { disk, log } = ground((real) => ({
    async sync(file) {
      syncs++;
      if (isBroken) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await real.sync(file);
    },
  }));
  log.put(effect('a'));
  await log.durable();
  isBroken = true;
  log.put(effect('b'));
  await assert.rejects(log.durable(), { code: 'EIO' });
  isBroken = false;
  const before = syncs;
  await assert.rejects(log.durable(), { code: 'EIO' });
  assert.throws(() => log.put(effect('c')), StoreFailed);
  assert.equal(syncs, before);
  await log.close(true).catch(() => undefined);
  assert.deepEqual(disk.list(FOLDER), [`${PEER}.1.log`], 'not closed: the next process replays it');
});

test('on a full disk nothing is acknowledged, and what was acknowledged can be replayed', async () => {
  let isFull = false;
  const { disk, log } = ground((real) => ({
    writeOwn(file, offset, bytes) {
      if (!isFull) return real.writeOwn(file, offset, bytes);
      real.writeOwn(file, offset, Buffer.from(bytes).subarray(0, 20));
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    },
  }));
  log.put(effect('a'));
  await log.durable();
  isFull = true;
  log.put(effect('b'));
  await assert.rejects(log.durable(), { code: 'ENOSPC' });
  isFull = false;
  await assert.rejects(log.durable(), { code: 'ENOSPC' });
  assert.deepEqual(stepsOn(disk), [{ puts: [effect('a')] }]);
});

test('a journal that is closed with all files in place says so in its name', async () => {
  const { disk, log } = ground();
  log.put(effect('a'));
  await log.close(true);
  assert.deepEqual(disk.list(FOLDER), [`${PEER}.1.closed`]);
  const unused = ground();
  await unused.log.close(true);
  assert.deepEqual(unused.disk.list(FOLDER), []);
});
