/** Which journals are replayed, which are held, and the messages for people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadJournals } from '../../../../src/adapters/files/journal/dead-journals.js';
import { JOURNAL_VERSION, printLine } from '../../../../src/adapters/files/journal/frames.js';
import { makeTask } from '../../../../src/domain/task/task.js';
import type { Disk } from '../../../../src/ports/disk.js';
import { printTask } from '../../../../src/text/records/task.js';
import { simDisk } from '../../../kit/sim-disk.js';
import { AT, ground, record, takeOver, type Ground } from './ground.js';

const ENDED = printTask(makeTask({ id: 't', description: 'do it', to: 'ana', created_at: AT, result: 'Yes.' }));

/** A process died with an end that has no file yet. Returns its journal. */
async function deadWithEnd(boot?: string): Promise<Ground & { file: string; peer: string }> {
  const world = ground();
  world.disk.save('/w/tasks/pending/t.json', record('t'));
  const store = world.start(boot === undefined ? {} : { boot });
  await store.tasks.scan(true);
  const claim = (await store.tasks.claim('t', 'ana'))!;
  await store.tasks.settle(claim, { ...claim.task, result: 'Yes.' }, 'completed', { durable: false });
  await store.flush({ visible: false });
  store.die();
  assert.deepEqual(world.disk.list('/w/tasks/completed'), []);
  return { ...world, file: `/w/.guild/journal/${world.journals()[0]!}`, peer: store.presence.peer.id };
}

const HELD: Record<string, (peer: string) => Buffer> = {
  'a foreign file': () => Buffer.from('Dear diary, today I made a journal.\n'),
  'a journal of a newer version': (peer) => {
    const owner = { host: 'test', bootId: 'test', pid: 999, startTime: '0' };
    return printLine(peer, 1, { journal: JOURNAL_VERSION + 1, peer, owner, segment: 1 });
  },
  'a journal of another shape': (peer) => {
    const owner = { host: 'test', bootId: 'test', pid: 999, startTime: '0' };
    const header = printLine(peer, 1, { journal: JOURNAL_VERSION, peer, owner, segment: 1 });
    return Buffer.concat([header, printLine(peer, 2, null as never)]);
  },
};

for (const [what, bytes] of Object.entries(HELD)) {
  test(`${what} is moved out of the way with a note, and its tasks are held until a person deletes it`, async () => {
    const { disk, start, file, peer, journals } = await deadWithEnd();
    disk.remove(file);
    disk.create(file, bytes(peer));
    const next = start();
    await takeOver(next);
    const { problems } = await next.tasks.scan(true);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['bad_file'],
    );
    const [held, note] = journals();
    assert.match(held!, /\.held$/);
    assert.equal(note, `${held}.why.md`);
    assert.match(problems[0]!.hint!, /guild doctor --adopt/);
    assert.match(disk.tree().get(`/w/.guild/journal/${note}`)!, /cannot be replayed/);
    assert.deepEqual(await next.tasks.orphans(), [], 'held');
    assert.deepEqual((await next.tasks.scan(true)).problems, [], 'reported once');
    disk.remove(`/w/.guild/journal/${held}`);
    assert.deepEqual(await next.tasks.orphans(), ['t'], 'others continue it from its file');
  });
}

test('a journal that may not be read is held, and one on a broken disk is tried again', async () => {
  for (const [code, isHeld] of [
    ['EACCES', true],
    ['EIO', false],
  ] as const) {
    const { disk, start, journals } = await deadWithEnd();
    let isBroken = true;
    const refusing =
      (read: (file: string, ...rest: number[]) => ReturnType<Disk['read']>) =>
      (file: string, ...rest: number[]) => {
        if (isBroken && file.includes('/journal/')) throw Object.assign(new Error(code), { code });
        return read(file, ...rest);
      };
    const next = start({
      disk: { ...disk, read: refusing(disk.read.bind(disk)), readFrom: refusing(disk.readFrom.bind(disk)) },
    });
    if (isHeld) await takeOver(next);
    else await assert.rejects(takeOver(next), { code });
    isBroken = false;
    assert.equal(journals()[0]!.endsWith('.held'), isHeld, code);
    await takeOver(next);
    assert.deepEqual(disk.list('/w/tasks/completed'), isHeld ? [] : ['t.json'], code);
  }
});

test('an empty journal, zeros and the start of a header hold nothing, and are removed', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(4096), Buffer.concat([Buffer.from('0000'), Buffer.alloc(100)])]) {
    const { disk, start, file, journals } = await deadWithEnd();
    disk.remove(file);
    disk.create(file, bytes);
    const next = start();
    await takeOver(next);
    assert.deepEqual((await next.tasks.scan(true)).problems, []);
    assert.deepEqual(journals(), []);
    assert.deepEqual(await next.tasks.orphans(), ['t']);
  }
});

test('the journal of another boot is replayed, and what it calls placed is made again', async () => {
  const { disk, start } = await deadWithEnd();
  const second = start();
  await takeOver(second);
  assert.deepEqual(disk.list('/w/tasks/completed'), ['t.json']);
  disk.save('/w/tasks/pending/u.json', record('u'));
  await second.tasks.scan(true);
  const claim = (await second.tasks.claim('u', 'ana'))!;
  await second.tasks.settle(claim, { ...claim.task, result: 'Yes.' }, 'completed');
  second.die();
  disk.remove('/w/tasks/completed/u.json');
  await takeOver(start({ boot: 'another' }));
  assert.deepEqual(disk.list('/w/tasks/completed').sort(), ['t.json', 'u.json']);
});

test('the journal of a live process is left alone, even if its file in agents/live is gone', async () => {
  const { disk, start, journals } = ground();
  disk.save('/w/tasks/pending/t.json', record('t'));
  const [first, second] = [start(), start()];
  await first.tasks.scan(true);
  assert.ok(await first.tasks.claim('t', 'ana'));
  await first.flush();
  disk.remove(`/w/agents/live/${first.presence.peer.id}.json`);
  const before = journals();
  await takeOver(second);
  assert.deepEqual(journals(), before);
  await second.tasks.scan(true);
  assert.deepEqual(await second.tasks.orphans(), [], 'and so are its tasks');
  first.die();
  assert.deepEqual(await second.tasks.orphans(), ['t']);
  assert.deepEqual(journals(), []);
});

test('a store that its process gave up is replayed by the next store of the same process', async () => {
  const { disk, start } = ground();
  disk.save('/w/tasks/pending/t.json', record('t'));
  let isBroken = false;
  const failing: Disk = {
    ...disk,
    link: (from, to) => disk.link(from, to),
    rename(from, to) {
      if (isBroken && to.includes('/active/')) throw Object.assign(new Error('EIO'), { code: 'EIO', path: to });
      return disk.rename(from, to);
    },
  };
  const first = start({ disk: failing });
  await first.tasks.scan(true);
  const claim = (await first.tasks.claim('t', 'ana'))!;
  isBroken = true;
  await assert.rejects(first.tasks.settle(claim, { ...claim.task, result: 'Yes.' }, 'completed'), { code: 'EIO' });
  await first.close();
  await assert.rejects(async () => first.tasks.settle(claim, claim.task, 'failed'), 'nothing more counts');
  disk.remove(`/w/agents/live/${first.presence.peer.id}.json`);
  const other = start();
  await takeOver(other);
  await other.tasks.scan(true);
  assert.deepEqual(await other.tasks.orphans(), [], 'its process lives, so others leave it alone');
  const next = start({ like: first, abandoned: new Set([first.presence.peer.id]) });
  await takeOver(next);
  assert.deepEqual(disk.list('/w/tasks/completed'), ['t.json']);
});

test('on a read-only disk nothing is acknowledged or replayed, and all of it is done once it can be', async () => {
  const { disk, start, journals } = await deadWithEnd();
  let isReadOnly = true;
  const changes = ['create', 'append', 'preallocate', 'writeOwn', 'patch', 'rename', 'link', 'remove'];
  const guarded = Object.entries(disk).map(([name, call]: [string, (...args: unknown[]) => unknown]) => [
    name,
    (...args: unknown[]) => {
      if (isReadOnly && changes.includes(name)) throw Object.assign(new Error('EROFS'), { code: 'EROFS' });
      return call.apply(disk, args);
    },
  ]);
  const next = start({ disk: Object.fromEntries(guarded) as Disk });
  const before = [...disk.tree()];
  await assert.rejects(takeOver(next), { code: 'EROFS' });
  assert.deepEqual([...disk.tree()], before);
  isReadOnly = false;
  await takeOver(next);
  assert.deepEqual(disk.list('/w/tasks/completed'), ['t.json']);
  assert.deepEqual(journals(), []);
});

test('a journal is replayed by one process; another waits until it is done', async () => {
  const { disk, start, file, journals } = await deadWithEnd();
  const [first, second] = [start(), start()];
  await Promise.all([takeOver(first), takeOver(second)]);
  assert.equal(disk.stamp(file), undefined);
  assert.deepEqual(journals(), []);
  assert.deepEqual(disk.list('/w/tasks/completed'), ['t.json']);
  assert.deepEqual(disk.list('/w/.guild/evidence'), []);
});

test('a copied journal belongs to no process, and what it calls placed is made if it is missing', async () => {
  const place = { inode: '1' };
  const disk = simDisk();
  const seen: Disk = {
    ...disk,
    stamp: (file) => (file === '/w/.guild/journal' ? `${place.inode}.0.0.0` : disk.stamp(file)),
  };
  const { start, journals } = ground(disk);
  const first = start({ disk: seen });
  disk.save('/w/tasks/pending/t.json', record('t'));
  await first.tasks.scan(true);
  const claim = (await first.tasks.claim('t', 'ana'))!;
  await first.tasks.settle(claim, { ...claim.task, result: 'Yes.' }, 'completed');
  disk.remove('/w/tasks/completed/t.json');
  await takeOver(start({ disk: seen }));
  assert.deepEqual([journals().length, disk.list('/w/tasks/completed')], [1, []], 'its process is alive');
  place.inode = '2';
  await takeOver(start({ disk: seen }));
  assert.deepEqual([journals(), disk.list('/w/tasks/completed')], [[], ['t.json']]);
});

test('a journal of an earlier version is replayed: conversation, end and page', async () => {
  const { disk, start, journals } = ground();
  const peer = 'old00001';
  disk.save(`/w/tasks/active/t_ana-${peer}.json`, record('t'));
  const yaml = `session_id: ana-t\nagent_id: ana\ncreated: '${AT}'\nmessages:\n`;
  const lines = [
    { id: 'conversation ana-t', session: 'ana-t', text: yaml },
    { id: 't', state: 'completed', text: ENDED },
    { id: 'page t', page: 't', text: '# do it\n\nYes.\n' },
    { id: 'gone', state: 'completed', text: ENDED.replaceAll('"t"', '"gone"') },
    { there: ['gone'] },
  ];
  disk.save(
    `/w/.guild/journal/${peer}.1.jsonl`,
    `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"id": "torn`,
  );
  await takeOver(start());
  assert.deepEqual([disk.list('/w/tasks/completed'), disk.list('/w/tasks/active'), journals()], [['t.json'], [], []]);
  assert.equal(disk.tree().get('/w/tasks/completed/t.json'), ENDED);
  assert.equal(disk.tree().get('/w/results/t.md'), '# do it\n\nYes.\n');
  assert.equal(disk.tree().get('/w/sessions/ana-t.session.yaml'), yaml);
});

test('a process that only reads sees the unfinished writes of a dead one, and changes no file', async () => {
  const { disk, start } = await deadWithEnd();
  const before = disk.tree();
  const refuse = (): never => {
    throw new Error('a reader writes');
  };
  const writes = {
    create: refuse,
    append: refuse,
    rename: refuse,
    link: refuse,
    remove: refuse,
    patch: refuse,
  };
  const reader = start({ disk: { ...disk, ...writes, writeOwn: refuse, preallocate: refuse }, isReader: true });
  await reader.tasks.scan(true);
  assert.deepEqual((await reader.tasks.read('t'))?.state, 'completed');
  assert.equal((await reader.tasks.read('t'))?.task.result, 'Yes.');
  assert.deepEqual(disk.tree(), before);
});

test('a reader that stays open follows the files once another process has replayed the journal', async () => {
  const { disk, start } = await deadWithEnd();
  const reader = start({ isReader: true });
  await reader.tasks.scan(true);
  assert.equal((await reader.tasks.read('t'))?.state, 'completed');
  const next = start();
  await takeOver(next);
  await next.tasks.scan(true);
  assert.ok(await next.tasks.reopen('t', makeTask({ id: 't', description: 'again', to: 'ana', created_at: AT })));
  await reader.tasks.scan(true);
  assert.equal((await reader.tasks.read('t'))?.state, 'pending');
  assert.equal(disk.stamp('/w/tasks/completed/t.json'), undefined);
});

test('a journal with nothing to replay stays until its files are old, unless there are many', async () => {
  const { disk, start, journals } = ground();
  const processes = { me: () => ({ host: 'test', bootId: 'test', pid: 2, startTime: '0' }), isAlive: () => false };
  const later = (ms: number): string[] => {
    const folder = '/w/.guild/journal';
    const dead = deadJournals({ disk, folder, shown: 'j', me: 'next', processes, isPeerAlive: () => false });
    assert.deepEqual(dead.look(), [], 'nothing to replay');
    return dead.adopt(new Date(ms), () => undefined).adopted.map(({ peer }) => peer);
  };
  const closed = async (id: string): Promise<string> => {
    disk.save(`/w/tasks/pending/${id}.json`, record(id));
    const store = start();
    await store.tasks.scan();
    const claim = (await store.tasks.claim(id, 'ana'))!;
    await store.tasks.settle(claim, { ...claim.task, result: 'Yes.' }, 'completed', { durable: true });
    await store.close();
    return store.presence.peer.id;
  };
  const first = await closed('t0');
  assert.match(journals().join(), /\.closed$/);
  // The times of this disk start at zero.
  assert.deepEqual(later(1000), []);
  assert.deepEqual(later(60_000), [first]);
  for (const name of journals()) disk.remove(`/w/.guild/journal/${name}`);
  for (let n = 1; n <= 8; n++) await closed(`t${n}`);
  assert.deepEqual(later(1000), []);
  await closed('t9');
  assert.equal(later(1000).length, 9);
});
