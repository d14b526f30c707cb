/** The copy of a shared store's log on this machine. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { updateLogCopy, type LogCopy, type ReadLines } from '../../../src/adapters/task-index/log-copy.js';
import { ledgerState, memoryLedger } from '../../../src/adapters/ledger/memory.js';

interface Bench {
  folder: string;
  /** All lines of the log, in order. */
  written: string[];
  /** Adds this many lines of about 200 bytes. */
  grow(lines: number): Promise<void>;
  read: ReadLines;
  /** Lines that were read since the last call. */
  took(): number;
}

let benches = 0;

function bench(t: TestContext, folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-copy-'))): Bench {
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const ledger = memoryLedger(ledgerState());
  const name = ++benches;
  const written: string[] = [];
  let taken = 0;
  return {
    folder,
    written,
    async grow(lines) {
      const texts = Array.from({ length: lines }, (_, n) => `${name} ${written.length + n} ${'x'.repeat(200)}`);
      written.push(...texts);
      await ledger.commit(String(written.length), { puts: [], adds: texts.map((text) => ({ log: 'l', text })) });
    },
    async read(after, first) {
      const lines = await ledger.lines('l', { after, first });
      taken += lines.texts.length;
      return lines;
    },
    took() {
      const lines = taken;
      taken = 0;
      return lines;
    },
  };
}

function linesOf(folder: string, { pages, rest }: LogCopy): string[] {
  const copied = pages.flatMap((page) => fs.readFileSync(path.join(folder, page), 'utf8').split('\n').filter(Boolean));
  return [...copied, ...rest];
}

test('after the first update only new lines are read', async (t) => {
  const { folder, written, grow, read, took } = bench(t);
  await grow(12_345);
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
  took();
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
  const before = took();
  await grow(40_000);
  await updateLogCopy(folder, read);
  took();
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
  assert.ok(took() <= before, 'an update reads no more beside a longer log');
  assert.ok(before < 400, `${before} lines`);
});

test('a few lines stay in memory and are complete', async (t) => {
  const { folder, written, grow, read } = bench(t);
  await grow(3);
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('a store that lost its last lines is copied again from there', async (t) => {
  const { folder, grow, read } = bench(t);
  await grow(2000);
  const first = await updateLogCopy(folder, read);
  await grow(2000);
  await updateLogCopy(folder, read);
  const standby = bench(t, folder);
  await standby.grow(3000);
  // The lines of the first page are the same as before; the later ones differ.
  const page = fs.readFileSync(path.join(folder, first.pages[0]!), 'utf8').split('\n').filter(Boolean);
  const lagging: ReadLines = async (after, count) => {
    const { texts, end } = await standby.read(after, count);
    return { texts: texts.map((text, n) => page[after + n] ?? text), end };
  };
  const copy = await updateLogCopy(folder, lagging);
  assert.equal(copy.pages[0], first.pages[0], 'the sound page stays');
  assert.deepEqual(linesOf(folder, copy), [...page, ...standby.written.slice(page.length)]);
});

test('another store in the same folder is copied as a whole', async (t) => {
  const { folder, grow, read } = bench(t);
  await grow(2000);
  await updateLogCopy(folder, read);
  const other = bench(t, folder);
  await other.grow(700);
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, other.read)), other.written);
});

test('damage of a page or of the list costs a reading, not a line', async (t) => {
  for (const damage of [
    (folder: string, page: string) => fs.truncateSync(path.join(folder, page), 100),
    (folder: string, page: string) => fs.rmSync(path.join(folder, page)),
    (folder: string) => fs.writeFileSync(path.join(folder, 'pages.json'), '[{"file":"../../secret"}]'),
    (folder: string) => fs.writeFileSync(path.join(folder, 'pages.json'), '{'),
  ]) {
    const { folder, written, grow, read } = bench(t);
    await grow(2000);
    const { pages } = await updateLogCopy(folder, read);
    damage(folder, pages[0]!);
    assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
  }
});

test('processes that update at once all see each line once', async (t) => {
  const { folder, written, grow, read } = bench(t);
  for (let round = 0; round < 5; round++) {
    await grow(1500);
    const copies = await Promise.all(Array.from({ length: 4 }, () => updateLogCopy(folder, read)));
    for (const copy of copies) assert.deepEqual(linesOf(folder, copy), written);
  }
  assert.deepEqual(linesOf(folder, await updateLogCopy(folder, read)), written);
});

test('without a folder that can be written everything is in memory', async (t) => {
  const { folder, written, grow, read } = bench(t);
  await grow(2000);
  const file = path.join(folder, 'file');
  fs.writeFileSync(file, '');
  const copy = await updateLogCopy(path.join(file, 'below'), read);
  assert.deepEqual(copy.pages, []);
  assert.deepEqual(copy.rest, written);
});
