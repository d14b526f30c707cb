/** Track records are a fold of the history that reads each line once, and a cache that may be deleted at any time. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { bids } from '../../src/adapters/bids/index.js';
import type { Bids } from '../../src/ports/bids.js';
import { addToRecords, recordOf } from '../../src/rules/staffing/track-record.js';
import { simDisk } from '../kit/sim-disk.js';

const LOG = '/w/events/2026-01-01.jsonl';
const KEPT = '/w/.guild/records.json';

function begun(): {
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

test('each line is read once, also by the next process', () => {
  const { open, add, folded, disk } = begun();
  const one = open();
  add(1000);
  assert.equal(recordOf(one.records(), 'ana').recent.length, 50);
  one.records();
  assert.equal(folded(), 1000);
  assert.equal(disk.read(KEPT).kind, 'file');
  add(1);
  recordOf(open('p2').records(), 'ana');
  assert.equal(folded(), 1001, 'it went on from what the first one kept');
});

test('without the cache, or with a torn one, the records are the same', () => {
  const { open, add, disk } = begun();
  add(1000);
  const before = open().records();
  disk.save(KEPT, '{"version": 1, "re');
  assert.deepEqual(open().records(), before);
  disk.remove(KEPT);
  assert.deepEqual(open().records(), before);
});

test('half a line is not read, and is read when it is whole', () => {
  const { open, disk } = begun();
  const one = open();
  disk.append(LOG, '{"at":"x","name":"task.completed","agent":"ana",');
  assert.equal(recordOf(one.records(), 'ana').recent, '');
  disk.append(LOG, '"task":"t"}\nnot json\n');
  assert.equal(recordOf(one.records(), 'ana').recent, 'a');
});

test('when a person went back in history, the records begin anew', () => {
  const { open, add, disk } = begun();
  const one = open();
  add(3);
  assert.equal(recordOf(one.records(), 'ana').recent, 'aaa');
  disk.save(LOG, '');
  assert.equal(recordOf(one.records(), 'ana').recent, '');
});

test('a bid is kept under its key, and nonsense in its place is none', () => {
  const { open, disk } = begun();
  const bid = { proceed: true, able: false, fitness: 3, reason: 'r' };
  assert.equal(open().known('k'), undefined);
  open().keep('k', bid);
  assert.deepEqual(open('p2').known('k'), bid);
  disk.save(path.join('/w/.guild/cache/bids/k.json'), '{"proceed": "YES"}');
  assert.equal(open().known('k'), undefined);
});
