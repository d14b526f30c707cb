/** Track records fold each event once; their cache may be deleted at any time. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { bids } from '../../src/adapters/bids/index.js';
import type { Bids } from '../../src/ports/bids.js';
import { addToRecords, recordOf } from '../../src/rules/staffing/track-record.js';
import { simDisk } from '../kit/sim-disk.js';

const LOG = '/w/events/2026-01-01.jsonl';
const KEPT = '/w/.guild/records.json';

function setUp(): {
  disk: ReturnType<typeof simDisk>;
  open: (peer?: string) => Bids;
  add: (times: number) => void;
  folded: () => number;
} {
  const disk = simDisk();
  disk.makeFolder('/w/events');
  disk.create(LOG, '');
  let folded = 0;
  return {
    disk,
    folded: () => folded,
    open: (peer = 'p1') =>
      bids({ root: '/w', disk, peer, fold: (records, event) => (folded++, addToRecords(records, event)) }),
    add(times) {
      const line = `${JSON.stringify({ at: 'x', name: 'task.completed', agent: 'ana', task: 't', role: 'root', more: 'x'.repeat(80) })}\n`;
      disk.append(LOG, line.repeat(times));
    },
  };
}

test('each line is read once, even across processes', () => {
  const { open, add, folded, disk } = setUp();
  const cache = open();
  add(1000);
  assert.equal(recordOf(cache.records(), 'ana').recent.length, 50);
  cache.records();
  assert.equal(folded(), 1000);
  assert.equal(disk.read(KEPT).kind, 'file');
  add(1);
  recordOf(open('p2').records(), 'ana');
  assert.equal(folded(), 1001, 'the second process continues from the saved records');
});

test('a missing or torn cache does not change the records', () => {
  const { open, add, disk } = setUp();
  add(1000);
  const before = open().records();
  disk.save(KEPT, '{"version": 1, "re');
  assert.deepEqual(open().records(), before);
  disk.remove(KEPT);
  assert.deepEqual(open().records(), before);
});

test('an incomplete line is read once it is complete', () => {
  const { open, disk } = setUp();
  const cache = open();
  disk.append(LOG, '{"at":"x","name":"task.completed","agent":"ana",');
  assert.equal(recordOf(cache.records(), 'ana').recent, '');
  disk.append(LOG, '"task":"t"}\nnot json\n');
  assert.equal(recordOf(cache.records(), 'ana').recent, 'a');
});

test('the records are rebuilt after a person restores an earlier state', () => {
  const { open, add, disk } = setUp();
  const cache = open();
  add(3);
  assert.equal(recordOf(cache.records(), 'ana').recent, 'aaa');
  disk.save(LOG, '');
  assert.equal(recordOf(cache.records(), 'ana').recent, '');
});

test('a bid is kept under its key, and an invalid file counts as no bid', () => {
  const { open, disk } = setUp();
  const bid = { proceed: true, able: false, fitness: 3, reason: 'r' };
  assert.equal(open().known('k'), undefined);
  open().keep('k', bid);
  assert.deepEqual(open('p2').known('k'), bid);
  disk.save(path.join('/w/.guild/cache/bids/k.json'), '{"proceed": "YES"}');
  assert.equal(open().known('k'), undefined);
});
