/** The index of ended tasks answers like a full read, whatever happens to files and index. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { taskIndex } from '../../../src/adapters/task-index/index.js';
import type { TaskIndex } from '../../../src/ports/aggregates/task-index.js';
import { taskRow } from '../../../src/text/records/task-row.js';
import { writeFinishedTasks } from '../../../bench/harness/finished-workspace.js';
import { plainEnded } from './plain-rows.js';
import { fc } from '../../kit/properties.js';

const COLUMNS = ['id', 'description', 'to', 'usage', 'created_at', 'mark', 'a.b', 'deep', 'result', 'error'];

interface Site {
  root: string;
  index: TaskIndex;
  folder: string;
  /** Fails unless the index gives the same answers as a full read. */
  check(): Promise<void>;
}

/** Chunks have eight records, each change is written, and all stamps count as old enough. */
function site(t: TestContext, { count = 0, seed = 1, version = '1' } = {}): Site {
  const root = tempFolder('index', t);
  writeFinishedTasks(root, count, { seed, pages: false });
  const now = (): number => Date.now() + 60_000;
  const index = taskIndex({ root, disk: disk(), version, least: 1, chunkRows: 8, now });
  return { root, index, folder: path.join(root, '.guild', 'index'), check: () => agree(root, index) };
}

async function agree(root: string, index: TaskIndex): Promise<void> {
  const { rows, problems } = await plainEnded(root);
  const seen = index.look();
  assert.equal(seen.size, rows.length);
  assert.deepEqual(seen.columns(), [...new Set(rows.flatMap((row) => Object.keys(row)))]);
  const partial = [...seen.rows(COLUMNS)];
  for (const [i, { row, read }] of partial.entries()) {
    const plain = timeless(rows[i]!);
    for (const key of [...COLUMNS, 'state', 'completed', 'failed', 'in_progress'])
      assert.deepEqual(timeless(row)[key], plain[key], `${key} of ${String(plain['id'])}`);
    assert.deepEqual(timeless(taskRow(read()!)), plain);
  }
  assert.equal(partial.length, rows.length);
  assert.deepEqual([...seen.problems()], problems);
  const newest = [...index.newest()];
  const ids = newest.flatMap((each) => ('task' in each ? each.task.id : []));
  assert.deepEqual(
    ids,
    rows.map((row) => row['id']),
  );
  assert.deepEqual(
    newest.filter((each) => 'code' in each),
    problems,
  );
}

/** `created_at` of a record without one is the time of reading. */
function timeless(row: Record<string, unknown>): Record<string, unknown> {
  const at = Date.parse(String(row['created_at']));
  return Date.now() - at < 60_000 ? { ...row, created_at: 'now' } : row;
}

/** Waits until the file system's clock has moved, so that the next change leaves another stamp. */
function tick(root: string): void {
  const probe = path.join(root, 'probe');
  const time = (): number => {
    fs.writeFileSync(probe, '');
    return fs.statSync(probe).ctimeMs;
  };
  const before = time();
  while (time() === before);
}

type Step = (site: Site, pick: <T>(from: readonly T[]) => T | undefined, n: number) => void;

const record = (n: number, more: object = {}): string => JSON.stringify({ description: `Do ${n}`, ...more });
const endedFiles = ({ root }: Site): string[] =>
  ['completed', 'failed'].flatMap((state) =>
    fs.readdirSync(path.join(root, 'tasks', state)).map((name) => path.join(root, 'tasks', state, name)),
  );
const indexFiles = ({ folder }: Site): string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
const add = (site: Site, n: number, text: string): void =>
  fs.writeFileSync(path.join(site.root, 'tasks', n % 3 ? 'completed' : 'failed', `new-${n}.json`), text);

const STEPS: Record<string, Step> = {
  add: (site, _, n) => add(site, n, record(n)),
  'add one with keys of its own': (site, _, n) =>
    add(site, n, record(n, { mark: n, 'a.b': [n], deep: { b: { c: n } } })),
  'add one with a long text': (site, _, n) => add(site, n, record(n, { result: 'long '.repeat(200) + n })),
  'add one with a number that would be rounded': (site, _, n) =>
    add(site, n, `{"description":"x${n}","mark":12345678901234567890}`),
  'add one with half a character': (site, _, n) => add(site, n, record(n, { mark: '\ud800' })),
  'add a torn one': (site, _, n) => add(site, n, record(n).slice(0, 9)),
  'add an invalid one': (site, _, n) => add(site, n, '[]'),
  'add a link': ({ root }, _, n) => fs.symlinkSync('nowhere', path.join(root, 'tasks/failed', `link-${n}.json`)),
  'edit in place': (site, pick, n) => {
    const file = pick(endedFiles(site).filter((each) => fs.lstatSync(each).isFile()));
    if (file !== undefined) fs.writeFileSync(file, record(n, { id: path.basename(file, '.json') }));
  },
  'edit in place with the same size and time': (site, pick, n) => {
    const file = pick(endedFiles(site).filter((each) => fs.lstatSync(each).isFile()));
    if (file === undefined) return;
    const { atime, mtime } = fs.statSync(file);
    const text = fs.readFileSync(file, 'latin1');
    fs.writeFileSync(file, text.replace(/[a-z](?=")/, String.fromCharCode(97 + (n % 26))), 'latin1');
    fs.utimesSync(file, atime, mtime);
  },
  'edit by rename': (site, pick, n) => {
    const file = pick(endedFiles(site));
    if (file === undefined) return;
    fs.writeFileSync(`${file}~`, record(n, { mark: 'renamed' }));
    fs.renameSync(`${file}~`, file);
  },
  delete: (site, pick) => {
    const file = pick(endedFiles(site));
    if (file !== undefined) fs.rmSync(file);
  },
  'delete half': (site) => endedFiles(site).forEach((file, i) => i % 2 && fs.rmSync(file)),
  reopen: (site, pick) => {
    const file = pick(endedFiles(site));
    fs.mkdirSync(path.join(site.root, 'aside'), { recursive: true });
    if (file !== undefined) fs.renameSync(file, path.join(site.root, 'aside', path.basename(file)));
  },
  'move to the other folder': (site, pick) => {
    const file = pick(endedFiles(site));
    const other = file?.includes('completed') ? 'failed' : 'completed';
    if (file !== undefined) fs.renameSync(file, path.join(site.root, 'tasks', other, path.basename(file)));
  },
  'delete the index': ({ folder }) => fs.rmSync(folder, { recursive: true, force: true }),
  'delete a part of the index': (site, pick) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) fs.rmSync(file);
  },
  'tear the index': (site, pick, n) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) fs.truncateSync(file, n % fs.statSync(file).size);
  },
  'damage a byte of the index': (site, pick, n) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) damage(file, n);
  },
  'put a foreign file into the index': ({ folder }, _, n) => {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `tasks-0000${n}`), 'not an index');
  },
  'use another version': ({ root }) => {
    taskIndex({ root, disk: disk(), version: '2', least: 1, chunkRows: 8 }).look();
  },
  'look with another process': ({ root }) => {
    taskIndex({ root, disk: disk(), version: '1', least: 1, chunkRows: 5 }).look();
  },
};

function damage(file: string, at: number): void {
  const bytes = fs.readFileSync(file);
  if (bytes.length === 0) return;
  bytes[at % bytes.length]! ^= 1 + (at % 255);
  fs.writeFileSync(file, bytes);
}

test('after any changes to files and index, the index says what a full read says', async (t) => {
  const step = fc.record({ what: fc.constantFrom(...Object.keys(STEPS)), n: fc.nat(1_000_000) });
  await fc.assert(
    fc.asyncProperty(fc.nat(40), fc.array(step, { minLength: 1, maxLength: 12 }), async (count, steps) => {
      const here = site(t, { count, seed: count });
      await here.check();
      for (const { what, n } of steps) {
        tick(here.root);
        STEPS[what]!(here, (from) => from[n % from.length], n);
        await here.check();
      }
    }),
    { numRuns: 15 },
  );
});

test('damage to any byte of the index is noticed', async (t) => {
  const here = site(t, { count: 20, seed: 7 });
  here.index.look();
  const good = new Map(indexFiles(here).map((file) => [file, fs.readFileSync(file)]));
  assert.ok(good.size > 1);
  const sizes = [...good.values()].reduce((sum, { length }) => sum + length, 0);
  await fc.assert(
    fc.asyncProperty(fc.nat(good.size - 1), fc.nat(sizes), async (number, at) => {
      fs.rmSync(here.folder, { recursive: true });
      fs.mkdirSync(here.folder);
      for (const [file, bytes] of good) fs.writeFileSync(file, bytes);
      damage([...good.keys()][number]!, at);
      await here.check();
    }),
    { numRuns: 30 },
  );
});

test('a record is kept only when its next change must leave another stamp', async (t) => {
  const here = site(t, { count: 1 });
  const { root } = here;
  const [file = ''] = endedFiles(here);
  const { ctimeMs } = fs.statSync(file);
  for (const [ageMs, kept] of [
    [-1000, 0],
    [0, 0],
    [40, 0],
    [60, 1],
  ] as const) {
    const index = taskIndex({ root, disk: disk(), version: '1', least: 1, now: () => ctimeMs + ageMs });
    await agree(root, index);
    assert.equal(indexFiles(here).length, kept, `${ageMs} ms after the change`);
  }
});

test('a look writes nothing if it finds no change or only a few', async (t) => {
  const here = site(t, { count: 50 });
  here.index.look();
  const before = listing(here);
  await here.check();
  assert.deepEqual(listing(here), before);
  const patient = taskIndex({ root: here.root, disk: disk(), version: '1', least: 10, chunkRows: 8 });
  for (let n = 0; n < 5; n++) add(here, n, record(n));
  await agree(here.root, patient);
  assert.deepEqual(listing(here), before);
});

test('queries of tasks work without an index if it cannot be written', async (t) => {
  const here = site(t, { count: 30 });
  fs.writeFileSync(here.folder, 'in the way');
  await here.check();
  fs.rmSync(here.folder);
  const open = (): TaskIndex => taskIndex({ root: here.root, disk: disk(), version: '1', least: 1 });
  open().look();
  fs.mkdirSync(here.folder, { recursive: true }); // records that are too young are not indexed
  fs.chmodSync(here.folder, 0o500);
  add(here, 1, record(1));
  await agree(here.root, open());
  fs.chmodSync(here.folder, 0o700);
});

test('the index stays small when tasks come and go, and is private', async (t) => {
  const here = site(t, { count: 40 });
  for (let n = 0; n < 60; n++) {
    add(here, n, record(n));
    if (n > 5) fs.rmSync(path.join(here.root, 'tasks', (n - 5) % 3 ? 'completed' : 'failed', `new-${n - 5}.json`));
    here.index.look();
  }
  await here.check();
  assert.ok(indexFiles(here).length < 15, `${indexFiles(here).length} files for 46 tasks`);
  assert.equal(fs.statSync(here.folder).mode & 0o777, 0o700);
});

test('a rebuild reports how far it is', (t) => {
  const { root } = site(t, { count: 600 });
  const reports: [number, number][] = [];
  const onProgress = (done: number, total: number): void => void reports.push([done, total]);
  taskIndex({ root, disk: disk(), version: '1', onProgress }).look();
  assert.deepEqual(reports.flat(), [0, 600, 500, 600, 600, 600]);
  taskIndex({ root, disk: disk(), version: '1', onProgress }).look();
});

function listing(site: Site): string[] {
  return indexFiles(site).map((file) => {
    const { ino, size, mtimeMs, ctimeMs } = fs.statSync(file);
    return [file, ino, size, mtimeMs, ctimeMs].join(' ');
  });
}
