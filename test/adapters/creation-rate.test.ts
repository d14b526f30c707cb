/** The creation rate counts tasks created under a root, from the end of the event files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creationRate } from '../../src/adapters/creation-rate/index.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const day = (ms: number): string => `/w/events/${new Date(ms).toISOString().slice(0, 10)}.jsonl`;

const line = (ms: number, task: string, more: object, name = 'task.created'): string =>
  `${JSON.stringify({ at: new Date(ms).toISOString(), name, task, ...more })}\n`;

function write(disk: SimDisk, ms: number, task: string, more: object = {}, name = 'task.created'): void {
  if (disk.stamp(day(ms)) === undefined) disk.create(day(ms), '');
  disk.append(day(ms), line(ms, task, more, name));
}

function fresh(): SimDisk {
  const disk = simDisk();
  disk.makeFolder('/w/events');
  return disk;
}

test('counts only tasks created under this root since the given time', () => {
  const disk = fresh();
  write(disk, NOON - 61_000, 't.call-1', { root: 't' });
  write(disk, NOON - 59_000, 't.call-2', { root: 't' });
  write(disk, NOON - 10, 't.call-3'); // earlier versions wrote no root
  write(disk, NOON - 10, 't');
  write(disk, NOON - 10, 't.notes', { root: 't.notes' });
  write(disk, NOON - 10, 't.call-3', { root: 't' }, 'task.claimed');
  const rate = creationRate({ root: '/w', disk });
  assert.equal(rate.madeSince('t', NOON - 60_000), 2);
  assert.equal(rate.madeSince('other', NOON - 60_000), 0);
  write(disk, NOON, 't.call-4', { root: 't' });
  disk.append(day(NOON), `{"at":"${new Date(NOON).toISOString()}","name":"task.created","task":"t.call-5"`);
  assert.equal(rate.madeSince('t', NOON - 60_000), 3, 'an incomplete line does not count');
  disk.append(day(NOON), ',"root":"t"}\n');
  assert.equal(rate.madeSince('t', NOON - 60_000), 4);
  assert.equal(rate.madeSince('t', NOON - 5), 2, 'older tasks no longer count');
});

test('reads only the end of a long event file, and every recent line of it', () => {
  const disk = fresh();
  const old = JSON.stringify({
    at: new Date(NOON - 3_600_000).toISOString(),
    name: 'task.created',
    task: 'x.y',
    root: 'x',
  });
  disk.create(day(NOON), `${old}\n`.repeat(50_000));
  const young = (i: number): string => line(NOON - 30_000 + i, `t.call-${i}`, { root: 't', why: 'x'.repeat(100) });
  disk.append(day(NOON), Array.from({ length: 3000 }, (_, i) => young(i)).join(''));
  let bytes = 0;
  const counting: SimDisk = {
    ...disk,
    readFrom(file, offset, maxBytes) {
      const read = disk.readFrom(file, offset, maxBytes);
      if (read.kind === 'file') bytes += read.bytes.length;
      return read;
    },
  };
  const rate = creationRate({ root: '/w', disk: counting });
  assert.equal(rate.madeSince('t', NOON - 60_000), 3000);
  assert.ok(bytes < 3_000_000, `${bytes} bytes were read of ${disk.stamp(day(NOON))?.split('.')[1]}`);
  bytes = 0;
  write(disk, NOON, 't.call-last', { root: 't' });
  assert.equal(rate.madeSince('t', NOON - 60_000), 3001);
  assert.ok(bytes < 1000, 'later calls read only new lines');
});

test('around midnight the files of both days count', () => {
  const disk = fresh();
  const midnight = Date.parse('2026-03-02T00:00:00.000Z');
  write(disk, midnight - 10_000, 't.call-1', { root: 't' });
  write(disk, midnight + 10_000, 't.call-2', { root: 't' });
  assert.equal(creationRate({ root: '/w', disk }).madeSince('t', midnight - 40_000), 2);
});
