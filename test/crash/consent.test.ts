/**
 * Records of consent and provenance, with a death and a power cut at every change: promised records
 * are still there, every other record is asked for again, and no partial record counts.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { boundContent } from '../../src/adapters/bound-content/index.js';
import { consent } from '../../src/adapters/consent/index.js';
import { fileTaint } from '../../src/adapters/file-taint/index.js';
import { privateTexts } from '../../src/adapters/private-texts/index.js';
import { trustRecords } from '../../src/adapters/trust/records.js';
import { NOTHING_ACTS } from '../../src/domain/consent/trust.js';
import type { Disk } from '../../src/ports/disk.js';
import { crashDisk } from '../kit/crash-disk.js';
import { SEED } from '../kit/seed.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';

const CUTS = 5;

/**
 * Works until change N fails, for every N, by death alone and with power cuts. `work` notes what it
 * was promised; `check` looks at the disk afterwards.
 */
async function everywhere<T>(
  start: () => T,
  work: (disk: Disk, promised: T) => Promise<void>,
  check: (disk: SimDisk, promised: T) => Promise<void>,
): Promise<void> {
  for (let n = 1; ; n++) {
    for (let cut = 0; cut <= CUTS; cut++) {
      const disk = simDisk();
      const failing = crashDisk(disk, n);
      const promised = start();
      await work(failing, promised).catch(() => undefined);
      if (cut > 0) disk.powerCut(seeded(SEED + n * CUTS + cut));
      try {
        await check(disk, promised);
      } catch (thrown) {
        throw new Error(`change ${n}, power cut ${cut}, SEED=${SEED}`, { cause: thrown });
      }
      if (failing.count() < n && cut === CUTS) return assert.ok(n > 3, `only ${n} changes`);
    }
  }
}

const open = (disk: Disk) => consent({ disk, folder: '/state/w/1', workspace: 'w1', keyFile: '/state/key' });
const ANSWER = {
  task: 't',
  digest: 'd',
  answer: { approved: true, by: 'human', at: '2026-01-01T00:00:00.000Z' },
} as const;
const SHOWN = { id: 'a', digest: 'x' };

test('a signature that was given is believed later, what was shown stays shown, and nothing starts twice', () =>
  everywhere(
    () => ({ signature: '', shown: false, began: false }),
    async (disk, promised) => {
      const mine = open(disk);
      promised.signature = mine.sign(ANSWER);
      await mine.noteShown([SHOWN]);
      promised.shown = true;
      promised.began = await mine.begin('effect');
    },
    async (disk, promised) => {
      const later = open(disk);
      if (promised.signature !== '') assert.ok(later.isSigned(ANSWER, promised.signature), 'the key is the same');
      if (promised.shown) assert.ok(later.hasShown(SHOWN.id, SHOWN.digest));
      if (promised.began) assert.equal(await later.begin('effect'), false);
      assert.ok(later.isSigned(ANSWER, later.sign(ANSWER)), 'a half-written key does not close the gate');
    },
  ));

test('a private text that was stored is whole, and a half-written one does not count', () =>
  everywhere(
    () => ({ hash: '' }),
    async (disk, promised) => {
      promised.hash = await privateTexts({ root: '/w', disk }).put('KEY=secret\n'.repeat(50));
    },
    async (disk, promised) => {
      const later = privateTexts({ root: '/w', disk });
      const text = 'KEY=secret\n'.repeat(50);
      const hash = createHash('sha256').update(text).digest('hex');
      const read = later.get(hash)?.toString();
      assert.ok(read === undefined ? promised.hash === '' : read === text);
      assert.equal(await later.put(text), hash);
      assert.equal(later.get(hash)?.toString(), text);
    },
  ));

test('a file that a tainted task wrote is tainted, and a torn line does not hide the next one', () => {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const files = { 'workspaces/ana/one': 'first', 'memory/two': 'second', 'memory/three': 'third' };
  const baseOf = (path: string) => ({ path, sha256: sha256(files[path as keyof typeof files] ?? '') });
  return everywhere(
    () => ({ one: false, ran: false, two: false }),
    async (disk, promised) => {
      const taint = fileTaint({ root: '/w', disk, baseOf });
      taint.writes('workspaces/ana/one', 'first', ['slack/mallory']);
      promised.one = true;
      taint.runs('ana', ['web/fetch']);
      promised.ran = true;
      taint.writes('memory/two', 'second', ['slack/eve']);
      promised.two = true;
    },
    async (disk, promised) => {
      const later = fileTaint({ root: '/w', disk, baseOf });
      if (promised.one) assert.deepEqual(later.of('workspaces/ana/one'), ['slack/mallory']);
      if (promised.ran) assert.deepEqual(later.of('workspaces/ana/other'), ['web/fetch']);
      if (promised.two) assert.deepEqual(later.of('memory/two'), ['slack/eve']);
      later.writes('memory/three', 'third', ['slack/later']);
      const last = fileTaint({ root: '/w', disk, baseOf });
      assert.deepEqual(last.of('memory/three'), ['slack/later']);
      assert.ok(last.below('memory').includes('slack/later'));
    },
  );
});

test('a trust record is the one before or the one after, and never unreadable', () =>
  everywhere(
    () => ({ created: '', written: false }),
    async (disk, promised) => {
      const records = trustRecords(disk, '/state');
      const record = records.create('/w', 0);
      promised.created = record.id;
      records.write({ ...record, trusted: { digest: 'd', acting: NOTHING_ACTS, at: '2026-01-01T00:00:00.000Z' } });
      promised.written = true;
    },
    async (disk, promised) => {
      const record = trustRecords(disk, '/state').read('/w');
      if (promised.created !== '') assert.equal(record?.id, promised.created);
      if (promised.written) assert.equal(record?.trusted?.digest, 'd');
    },
  ));

test('a snapshot that a crash has torn only costs the diff', () =>
  everywhere(
    () => ({}),
    async (disk) => {
      const content = boundContent({ root: '/', disk });
      for (const word of ['etc/passwd', 'etc/group', 'etc/hosts'])
        await content.bind({ words: [word], folders: [], interprets: false });
    },
    async (disk) => {
      const content = boundContent({ root: '/', disk });
      const [one, two] = await Promise.all(
        ['etc/passwd', 'etc/group'].map((word) => content.bind({ words: [word], folders: [], interprets: false })),
      );
      assert.match(one!.digest!, /^[0-9a-f]{64}$/);
      assert.match(content.changes(one!, two!), /is gone|have changed/);
    },
  ));
