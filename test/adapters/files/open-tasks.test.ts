/** Two files with one id: a task that is being moved, or two files of a person. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import { folders, layout } from '../../../src/adapters/files/base/layout.js';
import { openTasks } from '../../../src/adapters/files/open-tasks.js';
import { quarantine } from '../../../src/adapters/files/quarantine.js';
import type { Store } from '../../../src/ports/store/index.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';

function start(): { disk: SimDisk; join(): Store } {
  const disk = simDisk();
  const processes = simProcesses();
  const ids = countedIds();
  return { disk, join: () => files({ root: '/w', disk, clock: simClock(), ids, processes: processes.start() }) };
}

const TASK = '{"description": "do it", "to": "ana"}';

test('a task that is claimed and parked during a scan is never quarantined', async () => {
  const { disk, join } = start();
  const [one, two] = [join(), join()];
  disk.save('/w/tasks/waiting/t.json', TASK);
  await one.tasks.scan(true);
  await two.tasks.scan(true);
  const claim = (await one.tasks.claim('t', 'ana'))!;
  // The other process sees both the claim and the waiting file, as if the task was parked between
  // two listings.
  disk.save('/w/tasks/waiting/t.json', TASK);
  for (let look = 0; look < 3; look++) assert.deepEqual((await two.tasks.scan(true)).problems, []);
  assert.ok(
    disk.tree().has(`/w/tasks/active/t_ana-${one.presence.peer.id}.json`),
    'the claim is where its holder left it',
  );
  assert.deepEqual(disk.list('/w/quarantine'), []);
  disk.remove('/w/tasks/waiting/t.json');
  assert.equal(await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed'), true);
});

test('the second of two unchanged plain files with one id is quarantined and reported', async () => {
  const { disk, join } = start();
  const one = join();
  disk.save('/w/tasks/waiting/t.json', TASK);
  disk.save('/w/tasks/pending/t.json', TASK);
  const reported = [
    ...(await one.tasks.scan(true)).problems,
    ...(await one.tasks.scan(true)).problems,
    ...(await one.tasks.scan(true)).problems,
  ];
  assert.equal(reported.length, 1);
  assert.match(reported[0]!.message, /has the id t/);
  assert.equal(one.tasks.openCount(), 1);
});

test('a file with a used id under another name is quarantined at once', async () => {
  const { disk, join } = start();
  const one = join();
  disk.save('/w/tasks/waiting/t.json', TASK);
  disk.save('/w/tasks/pending/copy.json', '{"id": "t", "description": "again"}');
  const { problems } = await one.tasks.scan(true);
  assert.equal(problems.length, 1);
  assert.deepEqual(disk.list('/w/quarantine').sort(), ['copy.json', 'copy.json.why.md']);
  assert.ok(disk.tree().has('/w/tasks/waiting/t.json'));
});

test('unreadable files and twins are forgotten when they are gone', () => {
  const disk = simDisk();
  const l = layout('/w');
  for (const folder of folders(l)) disk.makeFolder(folder);
  const tasks = openTasks(disk, l, quarantine(disk, l), () => new Date('2026-01-01T00:00:00.000Z'));
  const nothing = (): boolean => false;
  for (let i = 0; i < 50; i++) {
    const [torn, twin, other] = [l.task('pending', `torn${i}`), l.task('pending', `t${i}`), l.task('waiting', `t${i}`)];
    disk.save(torn, '{"description": "Half a');
    disk.save(twin, TASK);
    disk.save(other, TASK);
    tasks.scan(true, nothing);
    tasks.scan(true, nothing);
    assert.ok(tasks.unreadable(`torn${i}`));
    assert.ok(tasks.remembered() > 0);
    tasks.withWaits({ state: 'waiting', task: { ...tasks.byId.get(`t${i}`)!.task, id: `elsewhere${i}` } });
    for (const file of [torn, twin, other]) disk.remove(file);
    tasks.scan(true, nothing);
    assert.equal(tasks.unreadable(`torn${i}`), undefined);
    assert.equal(tasks.remembered(), 0);
  }
});

test('a task that left and came back between two scans is read again after a file event', async () => {
  const { disk, join } = start();
  const one = join();
  disk.save('/w/tasks/pending/t.json', '{"description": "do it"}');
  await one.tasks.scan(true);
  const tasks = openTasks(disk, layout('/w'), quarantine(disk, layout('/w')), () => new Date('2026-01-01T00:00:00Z'));
  const nothing = (): boolean => false;
  tasks.scan(true, nothing);
  const claim = (await one.tasks.claim('t', 'nobody'))!;
  await one.tasks.release(claim, { ...claim.task, to: 'ana' });
  tasks.doubt('/w/tasks/pending/t.json');
  assert.deepEqual(tasks.scan(false, nothing), { problems: [], gone: [] });
  assert.equal(tasks.byId.get('t')!.task.to, 'ana');
  tasks.doubt('/w/tasks/pending/t.json');
  const again = (await one.tasks.claim('t', 'ana'))!;
  assert.deepEqual(tasks.scan(false, nothing).gone, [], 'it is among the active now');
  assert.equal(tasks.byId.get('t')!.state, 'active');
  assert.ok(await one.tasks.settle(again, { ...again.task, result: 'done' }, 'completed'));
});

test('a file event about a change of this process is ignored, and one of others needs no listing', async () => {
  const { disk, join } = start();
  const one = join();
  const pending = (id: string): string => `/w/tasks/pending/${id}.json`;
  for (const id of ['mine', 'theirs', 'edited']) disk.save(pending(id), TASK);
  let lists = 0;
  const counting = { ...disk, list: (folder: string) => (lists++, disk.list(folder)) };
  const at = layout('/w');
  const tasks = openTasks(counting, at, quarantine(disk, at), () => new Date('2026-01-01T00:00:00Z'));
  const nothing = (): boolean => false;
  tasks.scan(true, nothing);
  assert.equal(tasks.doubt(pending('mine')), false, 'the index agrees');
  assert.equal(tasks.doubt('/w/inbox/mail.jsonl'), true, 'not a task');
  lists = 0;
  await one.tasks.scan(true);
  const claim = (await one.tasks.claim('theirs', 'ana'))!;
  disk.save(pending('edited'), TASK.replace('do it', 'do it well'));
  disk.save(pending('new'), TASK);
  const active = `/w/tasks/active/theirs_ana-${one.presence.peer.id}.json`;
  for (const file of [pending('theirs'), active, pending('edited'), pending('new')])
    assert.equal(tasks.doubt(file), true, file);
  assert.deepEqual(tasks.scan(false, nothing), { problems: [], gone: [] });
  assert.equal(lists, 0);
  assert.equal(tasks.byId.get('theirs')!.state, 'active');
  assert.equal(tasks.byId.get('edited')!.task.description, 'do it well');
  assert.equal(tasks.byId.get('new')!.state, 'pending');
  assert.ok(await one.tasks.settle(claim, { ...claim.task, result: 'done' }, 'completed'));
  disk.rename(pending('new'), '/w/tasks/failed/new.json');
  for (const file of [active, pending('new')]) assert.equal(tasks.doubt(file), true);
  assert.deepEqual(tasks.scan(false, nothing).gone, ['new'], 'a completed task needs no second look');
  assert.deepEqual([...tasks.byId.keys()].sort(), ['edited', 'mine']);
});

test('the record of a task that another process claims and ends is not read again', () => {
  const disk = simDisk();
  const l = layout('/w');
  for (const folder of folders(l)) disk.makeFolder(folder);
  const [pending, claim] = ['/w/tasks/pending/t.json', '/w/tasks/active/t_ana-peer0001.json'];
  disk.save(pending, TASK);
  let reads = 0;
  const counted = { ...disk, read: (...given: Parameters<typeof disk.read>) => (reads++, disk.read(...given)) };
  const open = openTasks(counted, l, quarantine(counted, l), () => new Date());
  const never = (): boolean => false;
  open.scan(true, never);
  assert.equal(reads, 1);
  disk.rename(pending, claim);
  assert.deepEqual([pending, claim].map(open.doubt), [true, true]);
  assert.deepEqual(open.scan(false, never).gone, []);
  assert.equal(open.byId.get('t')?.owner?.peer, 'peer0001');
  assert.deepEqual(
    open.claimed().map(({ id }) => id),
    ['t'],
  );
  disk.rename(claim, '/w/tasks/completed/t.json');
  assert.equal(open.doubt(claim), true);
  assert.deepEqual(open.scan(false, never).gone, []);
  assert.equal(open.byId.size, 0);
  assert.equal(reads, 1);
});

test('very many new files cost no question about their ends, and an ended one is still found', () => {
  const disk = simDisk();
  const l = layout('/w');
  for (const folder of folders(l)) disk.makeFolder(folder);
  const name = (n: number): string => `t${n}.json`;
  for (let n = 0; n < 1500; n++) disk.save(l.tasks('pending') + '/' + name(n), TASK);
  disk.save(`${l.tasks('completed')}/${name(7)}`, TASK);
  let asked = 0;
  const counted = {
    ...disk,
    stamp: (file: string) => ((asked += file.startsWith(l.tasks('completed')) ? 1 : 0), disk.stamp(file)),
  };
  const open = openTasks(counted, l, quarantine(counted, l), () => new Date());
  const { problems } = open.scan(true, () => false);
  assert.equal(asked, 0);
  assert.equal(open.byId.size, 1499);
  assert.match(problems[0]!.message, /has the id t7, which an ended task has already/);
});
