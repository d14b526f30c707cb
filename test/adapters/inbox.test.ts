/** Every inbox line is delivered until it is done and never again, even if its file is replaced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inbox } from '../../src/adapters/inbox/index.js';
import type { Inbox } from '../../src/ports/inbox.js';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { SEED } from '../kit/seed.js';

const FILE = '/w/inbox/slack-messages.jsonl';
const lines = (...texts: string[]): string =>
  texts.map((text) => `${JSON.stringify({ from: 'sarah', text })}\n`).join('');
const open = (disk: Disk): Inbox => inbox({ root: '/w', disk });

function workspace(content = ''): SimDisk {
  const disk = simDisk();
  disk.makeFolder('/w/inbox');
  disk.makeFolder('/w/.guild/tmp');
  if (content !== '') disk.save(FILE, content);
  return disk;
}

/** Like a pass of the engine: creates a task for each new message, then marks the lines as done. */
async function pass(box: Inbox, tasks: Map<string, string>): Promise<string[]> {
  const { mail } = await box.take();
  const created: string[] = [];
  for (const { task, text } of mail) {
    if (tasks.has(task)) continue;
    tasks.set(task, text);
    created.push(text);
  }
  await box.done(mail);
  return created;
}

test('lines are delivered once, in order, as soon as they are complete', async () => {
  const disk = workspace(lines('a', 'b'));
  const tasks = new Map<string, string>();
  const box = open(disk);
  assert.deepEqual(await pass(box, tasks), ['a', 'b']);
  assert.deepEqual(await pass(box, tasks), []);
  disk.append(FILE, lines('c').slice(0, 9));
  assert.deepEqual(await pass(box, tasks), []);
  disk.append(FILE, lines('c').slice(9));
  assert.deepEqual(await pass(box, tasks), ['c']);
  assert.deepEqual((await open(disk).take()).mail, [], 'another process finds them done');
});

test('lines that are not done are delivered again', async () => {
  const disk = workspace(lines('a', 'b', 'c'));
  const box = open(disk);
  const { mail } = await box.take();
  await box.done([mail[1]!]);
  for (const reader of [box, open(disk)]) {
    assert.deepEqual(
      (await reader.take()).mail.map(({ text }) => text),
      ['a', 'c'],
    );
  }
});

test('if another process sweeps an unsaved cursor, no line is lost or taken twice', async () => {
  const disk = workspace(lines('a', 'b'));
  const isTemp = (file: string): boolean => file.startsWith('/w/.guild/tmp/');
  const swept: Disk = {
    ...disk,
    create(file, bytes) {
      const isNew = disk.create(file, bytes);
      if (isTemp(file)) disk.remove(file);
      return isNew;
    },
    async createSynced(file, bytes) {
      await disk.createSynced(file, bytes);
      if (isTemp(file)) disk.remove(file);
    },
  };
  const tasks = new Map<string, string>();
  assert.deepEqual(await pass(open(swept), tasks), ['a', 'b']);
  assert.deepEqual(await pass(open(disk), tasks), []);
});

test('an idle inbox reads no file', async () => {
  const disk = workspace(lines('a'));
  const reads: string[] = [];
  const watched: Disk = { ...disk, read: (file, max) => (reads.push(file), disk.read(file, max)) };
  const box = open(watched);
  await pass(box, new Map());
  reads.length = 0;
  for (let i = 0; i < 5; i++) assert.deepEqual(await box.take(), { mail: [], problems: [] });
  assert.deepEqual(reads, []);
});

test('a later process does not read a file that was read to its end', async () => {
  const disk = workspace(lines('a', 'b'));
  await pass(open(disk), new Map());
  const reads: string[] = [];
  const watched: Disk = { ...disk, read: (file, max) => (reads.push(file), disk.read(file, max)) };
  const box = open(watched);
  assert.deepEqual(await pass(box, new Map()), []);
  assert.deepEqual(reads, ['/w/.guild/inbox/slack-messages.jsonl.json']);
  disk.append(FILE, lines('c'));
  assert.deepEqual(await pass(box, new Map()), ['c']);
});

test('equal lines are separate messages; lines with equal ids are one message', async () => {
  const ok = '{"from":"sarah","text":"ok"}\n';
  const named = '{"id":"7","text":"x"}\n';
  const disk = workspace(ok + ok + named + '{"id":"7","text":"x","ts":"later"}\n' + ok);
  const box = open(disk);
  const { mail, problems } = await box.take();
  assert.deepEqual(
    mail.map(({ text }) => text),
    ['ok', 'ok', 'x', 'ok'],
  );
  assert.equal(new Set(mail.map(({ task }) => task)).size, 4);
  assert.deepEqual(problems, []);
});

test('an id that already belongs to another message is reported and ignored', async () => {
  const disk = workspace('{"id":"7","text":"pay tom"}\n');
  const tasks = new Map<string, string>();
  await pass(open(disk), tasks);
  disk.append(FILE, '{"id":"7","text":"pay eve"}\n{"id":"8","text":"go on"}\n');
  const box = open(disk);
  const { mail, problems } = await box.take();
  assert.deepEqual(
    mail.map(({ text }) => text),
    ['go on'],
  );
  assert.equal(problems.length, 1);
  assert.equal(problems[0]!.code, 'duplicate');
  assert.equal(problems[0]!.where?.line, 2);
});

test('a bad line is reported once and skipped', async () => {
  const disk = workspace(`${lines('a')}oops\n`);
  const box = open(disk);
  const { mail, problems } = await box.take();
  assert.equal(problems.length, 1);
  await box.done(mail);
  assert.deepEqual(await box.take(), { mail: [], problems: [] });
  assert.deepEqual(await open(disk).take(), { mail: [], problems: [] });
});

test('a bad line is delivered once a person has fixed it, without repeating the others', async () => {
  const disk = workspace(`${lines('a')}{"text":"b"\n${lines('c')}`);
  const tasks = new Map<string, string>();
  const box = open(disk);
  assert.deepEqual(await pass(box, tasks), ['a', 'c']);
  disk.save(FILE, `${lines('a')}{"text":"b"}\n${lines('c')}`);
  assert.deepEqual(
    (await box.take()).mail.map(({ text }) => text),
    ['b'],
  );
  assert.deepEqual(await pass(open(disk), tasks), ['b']);
});

test('old lines in a truncated or rewritten file are recognised, even without their tasks', async () => {
  for (const restart of [false, true]) {
    const disk = workspace(lines('a', 'b', 'c'));
    let box = open(disk);
    await pass(box, new Map());
    const change = async (content: string, expected: string[]): Promise<void> => {
      disk.save(FILE, content);
      if (restart) box = open(disk);
      // The tasks are gone, so only the logged keys identify messages that were already read.
      assert.deepEqual(await pass(box, new Map()), expected);
    };
    await change('', []);
    await change(lines('d'), ['d']);
    await change(lines('a', 'b', 'c', 'd', 'e'), ['e']);
    await change(lines('f', 'c', 'g'), ['f', 'g']);
    await change(lines('a'), []);
  }
});

test('a rotated file is read to its end once, under any new name', async () => {
  for (const renamed of ['slack-messages.jsonl.1', 'slack-messages-1.jsonl', 'old.jsonl']) {
    for (const restart of [false, true]) {
      const disk = workspace(lines('a', 'b'));
      let box = open(disk);
      await pass(box, new Map());
      disk.append(FILE, lines('late'));
      disk.rename(FILE, `/w/inbox/${renamed}`);
      disk.create(FILE, lines('new'));
      if (restart) box = open(disk);
      assert.deepEqual((await pass(box, new Map())).sort(), ['late', 'new'], renamed);
      assert.deepEqual(await pass(open(disk), new Map()), [], renamed);
    }
  }
});

test('a lost cursor or log never leads to a second task', async () => {
  for (const lost of ['.json', '.seen', '']) {
    const disk = workspace(lines('a', 'b'));
    const tasks = new Map<string, string>();
    await pass(open(disk), tasks);
    for (const name of disk.list('/w/.guild/inbox')) if (name.endsWith(lost)) disk.remove(`/w/.guild/inbox/${name}`);
    disk.append(FILE, lines('c'));
    assert.deepEqual(await pass(open(disk), tasks), ['c']);
  }
});

test('a damaged cursor repeats no line', async () => {
  const disk = workspace(lines('a', 'b'));
  await pass(open(disk), new Map());
  for (const junk of [
    '',
    '{',
    '{"offset":-1}',
    '{"offset":3,"line":1,"hash":"x","origin":"slack-messages.jsonl"}',
    '\0\0\0',
  ]) {
    disk.save('/w/.guild/inbox/slack-messages.jsonl.json', junk);
    assert.deepEqual(await pass(open(disk), new Map()), [], junk);
  }
});

test('outboxes and other files are not read', async () => {
  const disk = workspace();
  for (const name of ['slack-outbox.jsonl', 'outbox.jsonl', '.hidden.jsonl', 'notes.md', 'a.jsonl~', 'x.jsonl.tmp'])
    disk.create(`/w/inbox/${name}`, lines('no'));
  assert.deepEqual(await open(disk).take(), { mail: [], problems: [] });
});

test('an appended line starts on a new line, even after a torn one', async () => {
  const disk = workspace();
  const box = open(disk);
  await box.append('slack-outbox.jsonl', { to: 'sarah', text: 'one\u2028\n' });
  disk.append('/w/inbox/slack-outbox.jsonl', '{"half');
  await box.append('slack-outbox.jsonl', { to: 'sarah', text: 'two' });
  assert.equal(
    disk.tree().get('/w/inbox/slack-outbox.jsonl'),
    '{"to":"sarah","text":"one\u2028\\n"}\n{"half\n{"to":"sarah","text":"two"}\n',
  );
  for (const name of ['../x.jsonl', '.x.jsonl', 'x', 'a/b.jsonl', 'x.jsonl.1'])
    await assert.rejects(box.append(name, {}), /not a valid inbox file name/);
});

test('after a crash or power cut at any change, every line is taken once', async () => {
  for (const power of [false, true]) {
    let n = 0;
    for (let more = true; more;) {
      n++;
      const disk = workspace(lines('a', 'b', 'b'));
      const tasks = new Map<string, string>(); // durable before `done`, like the engine's tasks
      const failing = crashDisk(disk, n);
      const play = async (target: Disk): Promise<void> => {
        const box = open(target);
        await pass(box, tasks);
        target.append(FILE, lines('c'));
        await target.sync(FILE);
        await pass(box, tasks);
        target.rename(FILE, `${FILE}.1`);
        target.create(FILE, lines('d'));
        await target.sync(FILE);
        await pass(box, tasks);
      };
      await play(failing).catch(() => undefined);
      more = failing.count() >= n;
      if (power) disk.powerCut(seeded(SEED + n));
      await pass(open(disk), tasks);
      // A later process that has no tasks finds every line done.
      assert.deepEqual((await open(disk).take()).mail, [], `change ${n}, SEED=${SEED}`);
      const got = [...tasks.values()].sort().join('');
      assert.ok('abbcd'.startsWith(got) && got.startsWith('abb'), `change ${n}: ${got}, SEED=${SEED}`);
    }
    assert.ok(n > 20, `only ${n} changes`);
  }
});
