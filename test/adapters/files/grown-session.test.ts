/** Only the new part of a grown conversation is parsed, and the result equals a full parse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atomicWrite } from '../../../src/adapters/files/base/atomic-write.js';
import { layout } from '../../../src/adapters/files/base/layout.js';
import { files } from '../../../src/adapters/files/index.js';
import { sessionReader } from '../../../src/adapters/files/read-session.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { Store } from '../../../src/ports/store/index.js';
import { diffMessages } from '../../../src/text/session/message-diff.js';
import { parseSession, printHeader, printMessages } from '../../../src/text/session/parse.js';
import { AT, header, user } from '../../contract/store/bench.js';
import { SEED } from '../../kit/seed.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { countedIds, seeded, simProcesses } from '../../kit/sim-processes.js';

const FILE = '/w/sessions/s.session.yaml';
const processes = simProcesses();
const open = (disk: SimDisk, name: string): Store =>
  files({ root: '/w', disk, clock: simClock(), ids: countedIds(name), processes: processes.start() });
const textOf = (disk: SimDisk): string => {
  const read = disk.read(FILE);
  return read.kind === 'file' ? read.bytes.toString('utf8') : '';
};

/** Texts that people and programs append to the file. */
const TAILS = [
  '  - role: user\n    content: Plain.\n',
  '  - role: user\n    content: |\n      Several\n\n      lines\n',
  '  - role: user\n    content: |+\n      Kept blank lines\n\n\n',
  '  - role: human\n    content: "no newline at the end"',
  '  -\n    role: user\n    content: The dash alone\n',
  '- role: user\n  content: Another indentation\n',
  '  # only a comment\n',
  '      Text that continues the item before it.\n',
  '  - role: user\r\n    content: "Windows: \\u00e9 é"\r\n',
  '  - role: user\n    from: guildhall:plan\n    content: Of an earlier version\n',
  '  - role: nobody\n    content: Wrong\n',
  'kept: 1\n',
  '---\n',
  '\n',
];

test(`after any change a conversation opens with the result of parsing the whole file (SEED=${SEED})`, async () => {
  const random = seeded(SEED);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  let opened = 0;
  for (let round = 0; round < 60; round++) {
    const disk = simDisk();
    const [mine, other] = [open(disk, `a${round}-`), open(disk, `b${round}-`)];
    if (random() < 0.5) await mine.presence.join();
    await mine.sessions.create(header('s'), random() < 0.5 ? [] : [user('start')]);
    await mine.flush();
    let known: readonly Message[] | undefined = [...(await expectOpen(mine)).messages];
    for (let step = 0; step < 12; step++) {
      const what = await change(disk, mine, other, random, pick);
      if (what === 'written') known = undefined;
      const before = textOf(disk);
      const got = await mine.sessions.open('s');
      const name = `SEED=${SEED} round ${round} step ${step} ${what}\n${before}`;
      const whole = parseSession(before, FILE);
      assert.equal(got.kind, whole.ok ? 'open' : 'held', name);
      if (got.kind !== 'open' || !whole.ok) {
        disk.save(FILE, printHeader(header('s')) + printMessages([user('start again')]));
        known = (await expectOpen(mine)).messages.slice();
        continue;
      }
      // A process does not read back the status that it wrote itself: it is for people.
      if (what === 'own status') got.session.header.status = whole.session.header.status;
      assert.deepEqual(got.session, whole.session, name);
      if (known !== undefined) {
        const { added, changed, removed } = diffMessages(known, whole.session.messages);
        const { edited } = got;
        assert.deepEqual(
          [edited?.added ?? 0, edited?.changed ?? 0, edited?.removed ?? 0],
          [added, changed, removed],
          name,
        );
      }
      known = got.session.messages.slice();
      opened++;
    }
  }
  assert.ok(opened > 200, `${opened} conversations were opened`);
});

async function expectOpen({ sessions }: Store): Promise<{ messages: Message[] }> {
  const got = await sessions.open('s');
  assert.equal(got.kind, 'open');
  return got.kind === 'open' ? got.session : { messages: [] };
}

async function change(
  disk: SimDisk,
  mine: Store,
  other: Store,
  random: () => number,
  pick: <T>(list: readonly T[]) => T,
): Promise<string> {
  const text = textOf(disk);
  const says = (): Message[] =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
      user(pick(['Yes', 'No\nor\n\n  maybe', '- é "x": *b*'])),
    );
  const changes: (() => Promise<string>)[] = [
    () => mine.sessions.append('s', says(), { durable: random() < 0.5 }),
    async () => {
      await other.sessions.open('s');
      return `other ${await other.sessions.append('s', says(), { durable: false })}`;
    },
    async () => {
      await other.sessions.open('s');
      await other.sessions.setStatus('s', pick(['active', 'paused', 'completed'] as never[]));
      return 'status';
    },
    async () => (await mine.sessions.setStatus('s', pick(['active', 'completed'])), 'own status'),
    async () => (disk.save(FILE, text + pick(TAILS)), 'tail'),
    async () => (disk.append(FILE, pick(TAILS)), 'tail in place'),
    async () => (disk.save(FILE, text.replace('start', 'START').replace('Yes', 'Oh')), 'edit'),
    async () => (disk.save(FILE, text.replace('Yes', 'Yep') + pick(TAILS)), 'edit and tail'),
    async () => (disk.save(FILE, text.replace('agent_id', 'model: m\nagent_id')), 'header'),
    async () => (disk.save(FILE, text.slice(0, Math.max(0, text.lastIndexOf('\n  - ')) + 1)), 'cut'),
  ];
  return pick(changes)();
}

test('each opening parses what was added, however long the conversation is', async () => {
  const disk = simDisk();
  const l = layout('/w');
  let parsedBytes = 0;
  const reader = sessionReader({
    disk,
    layout: l,
    write: atomicWrite(disk, l, 'me', () => undefined),
    parse: (text, file) => ((parsedBytes += text.length), parseSession(text, file)),
  });
  const item = printMessages([{ role: 'assistant', content: 'x'.repeat(200), timestamp: AT }]);
  const head = printHeader(header('s'));
  disk.save(FILE, head + item.repeat(1000));
  await reader.open('s');
  assert.ok(parsedBytes > 200_000);
  parsedBytes = 0;
  for (let i = 0; i < 50; i++) {
    // Half of the writers replace the file, as editors do.
    if (i % 2 === 0) disk.append(FILE, item);
    else disk.save(FILE, textOf(disk) + item);
    const opened = await reader.open('s');
    assert.ok(opened.kind === 'open' && opened.session.messages.length === 1001 + i);
    assert.equal(opened.edited?.added, 1);
    assert.match(opened.edited.diff, new RegExp(`^@ message ${1001 + i}, assistant`));
  }
  assert.ok(parsedBytes < 50 * 2 * (head.length + item.length), `${parsedBytes} bytes were parsed`);
});

test('after its own appends and status changes a process parses only what another one added', async () => {
  const disk = simDisk();
  const mine = open(disk, 'm');
  await mine.presence.join();
  await mine.sessions.create(header('s'), [user('start')]);
  for (let i = 0; i < 20; i++)
    assert.equal(await mine.sessions.append('s', [user(`m${i}`)], { durable: false }), 'written');
  const before = await expectOpen(mine);
  const first = before.messages[0];
  await mine.sessions.setStatus('s', 'completed');
  const other = open(disk, 'o');
  await other.sessions.open('s');
  await other.sessions.append('s', [user('from another process')], { durable: false });
  await other.sessions.setStatus('s', 'active');
  const { messages } = await expectOpen(mine);
  assert.equal(messages.length, 22);
  assert.equal(messages[0], first, 'the messages before are not parsed again');
});

test('a status that the file already has is not written again', async () => {
  const disk = simDisk();
  const store = open(disk, 'm');
  await store.presence.join();
  await store.sessions.create(header('s'), [user('start')]);
  assert.equal(await store.sessions.append('s', [user('more')], { durable: true }), 'written');
  await store.sessions.setStatus('s', 'completed');
  await expectOpen(store);
  const { length } = textOf(disk);
  const stamp = disk.stamp(FILE);
  await store.sessions.setStatus('s', 'completed');
  assert.equal(disk.stamp(FILE), stamp);
  await store.sessions.setStatus('s', 'error');
  assert.notEqual(disk.stamp(FILE), stamp, 'another status is written');
  assert.equal(textOf(disk).length, length);
});
