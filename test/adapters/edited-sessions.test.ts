/** Which conversations end with a person's message, and what it costs to find out. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import { editedSessions } from '../../src/adapters/edited-sessions/index.js';
import type { Session } from '../../src/domain/session/session.js';
import type { Disk } from '../../src/ports/disk.js';
import { simDisk } from '../kit/sim-disk.js';
import { tempFolder } from '../kit/temp/folder.js';
import { until } from '../kit/until.js';

const MARK = '/w/.guild/sessions-mark';
const unknown = (): undefined => undefined;

function ground() {
  const disk = simDisk();
  for (const folder of ['/w/sessions', '/w/.guild/tmp']) disk.makeFolder(folder);
  const read: string[] = [];
  const counted: Disk = {
    ...disk,
    readFrom: (file, ...given) => (read.push(file), disk.readFrom(file, ...given)),
  };
  const clock = { ms: 0, monotonicMs: () => clock.ms, now: () => new Date(clock.ms) };
  const open = () =>
    editedSessions({ root: '/w', disk: counted, clock, peer: 'p', isWatched: false, isFirst: () => true });
  return { disk, read, clock, open, save, marked: () => disk.tree().get(MARK) };

  function save(id: string, ...roles: string[]): string {
    const file = `/w/sessions/${id}.session.yaml`;
    disk.save(file, `messages:\n${roles.map((role) => `  - role: ${role}\n    content: hello\n`).join('')}`);
    return disk.stamp(file)!;
  }
}

function ended(role: 'user' | 'assistant'): Session {
  return { messages: [{ role, content: 'hello' }] } as unknown as Session;
}

test('a conversation whose content is known is not read', () => {
  const { open, read, save } = ground();
  const edited = open();
  const stamps = new Map([
    ['ours', save('ours', 'user', 'assistant')],
    ['theirs', save('theirs', 'assistant', 'user')],
  ]);
  const known = (id: string, stamp: string): Session | undefined =>
    stamps.get(id) === stamp ? ended(id === 'ours' ? 'assistant' : 'user') : undefined;
  assert.deepEqual(edited.look(known), ['theirs']);
  assert.deepEqual(read, []);
});

test('a message that a person saved after ours is found', () => {
  const { open, read, save } = ground();
  const edited = open();
  const ours = save('talk', 'user', 'assistant');
  const known = (_: string, stamp: string): Session | undefined => (stamp === ours ? ended('assistant') : undefined);
  assert.deepEqual(edited.look(known), []);
  save('talk', 'user', 'assistant', 'user');
  assert.deepEqual(edited.look(known), ['talk']);
  assert.equal(read.length, 1);
});

test('a person may write another word for their role, or another key first, and a wrong word is looked at', () => {
  const { open, save, disk } = ground();
  for (const role of ['human', 'usr', 'tool', 'system']) save(role, 'assistant', role);
  const items = '  - role: assistant\n    content: |\n      - role: tool\n  - content: hello\n    role: user\n';
  disk.save('/w/sessions/other-key.session.yaml', `messages:\n${items}`);
  assert.deepEqual(open().look(unknown).sort(), ['human', 'other-key', 'usr']);
});

test('the mark is saved once a second, and when its process leaves', () => {
  const { open, save, clock, marked } = ground();
  const edited = open();
  const look = (): unknown => (edited.look(unknown), marked());
  save('a', 'assistant');
  const first = look();
  assert.notEqual(first, undefined);
  save('b', 'assistant');
  clock.ms += 999;
  assert.deepEqual(look(), first);
  clock.ms += 1;
  const second = look();
  assert.notDeepEqual(second, first);
  save('c', 'assistant');
  assert.deepEqual(look(), second);
  edited.close();
  assert.notDeepEqual(marked(), second);
});

test('a mark that is late costs reads and finds no conversation twice', () => {
  const { open, save, read } = ground();
  const edited = open();
  save('a', 'assistant');
  edited.look(unknown);
  save('b', 'assistant');
  edited.look(unknown);
  assert.equal(read.length, 2, 'each is read once by this process');
  assert.deepEqual(open().look(unknown), []);
  assert.equal(read.length, 3, 'the process was killed, and the next one reads the last again');
});

test('of many changed conversations, later processes read only those that the first one leaves', async (t) => {
  const root = tempFolder('edited', t);
  for (const folder of ['sessions', '.guild/tmp']) fs.mkdirSync(path.join(root, folder), { recursive: true });
  const disk = realDisk();
  let reads = 0;
  const counted: Disk = { ...disk, readFrom: (...given) => (reads++, disk.readFrom(...given)) };
  const clock = { aheadMs: 0, monotonicMs: () => performance.now(), now: () => new Date(Date.now() + clock.aheadMs) };
  const open = (peer: string, isFirst: boolean, on: Disk) => {
    const edited = editedSessions({ root, disk: on, clock, peer, isWatched: true, isFirst: () => isFirst });
    t.after(() => edited.close());
    edited.look(unknown);
    return edited;
  };
  const [first, later] = [open('p1', true, disk), open('p2', false, counted)];
  const saveAll = (): void => {
    for (let n = 0; n < 20; n++)
      fs.writeFileSync(
        path.join(root, `sessions/s${n}.session.yaml`),
        'messages:\n  - role: user\n    content: hello\n',
      );
  };
  saveAll();
  await until(() => first.look(unknown).length === 20);
  assert.deepEqual(later.look(unknown), []);
  first.done([...Array(20).keys()].map((n) => `s${n}`));
  clock.aheadMs = 3000;
  assert.deepEqual(later.look(unknown), []);
  assert.equal(reads, 0);
  saveAll(); // the first process is suspended
  clock.aheadMs = 0;
  await until(() => ((clock.aheadMs += 3000), later.look(unknown).length === 20));
  assert.ok(reads >= 20);
});
