/** The index of events gives the same answers as the log, whatever happens to either. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { eventIndex } from '../../../src/adapters/task-index/index.js';
import { callCost, type Event } from '../../../src/domain/event.js';
import { kinIn } from '../../../src/domain/task/lineage.js';
import type { EventIndex, EventsSeen } from '../../../src/ports/aggregates/event-index.js';
import { writeFinishedTasks } from '../../../bench/harness/finished-workspace.js';
import { plainEvents } from './plain-rows.js';
import { fc, runs } from '../../kit/properties.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/task-index/events', 3);

interface Site {
  root: string;
  log: string;
  folder: string;
  index: EventIndex;
  check(): Promise<void>;
}

/** Every file is indexed, however small, and counts as old after `isQuiet`. */
function site(t: TestContext, { count = 0, seed = 1, quietMs = 0 } = {}): Site {
  const root = tempFolder('index', t);
  writeFinishedTasks(root, count, { seed, pages: false });
  const index = eventIndex({ root, version: '1', leastBytes: 0, grownBytes: 400, partBytes: 1500, quietMs });
  const log = path.join(root, 'events');
  return { root, log, folder: path.join(root, '.guild', 'index'), index, check: () => agree(root, index) };
}

async function agree(root: string, index: EventIndex): Promise<void> {
  const all = (await plainEvents(root)).filter((event) => typeof event === 'object' && event !== null);
  const seen = index.look();
  try {
    compare(seen, all);
  } finally {
  }
}

/** Before, between and after the events. */
const TIMES = ['', '1970-01-01T05:00:00.000Z', '2026-01-15T12:00:00.000Z', '9999-01-01T00:00:00.000Z'];

function compare(seen: EventsSeen, all: Event[]): void {
  assert.equal(seen.size, all.length);
  assert.deepEqual(seen.columns(), [...new Set(all.flatMap((event) => Object.keys(event)))]);
  assert.deepEqual(
    [...seen.rows([])].map(({ read }) => read()),
    all,
  );
  for (const keys of [
    ['at', 'name', 'task', 'agent'],
    ['tool', 'name'],
  ])
    for (const [i, { row }] of [...seen.rows(keys)].entries())
      for (const key of keys) assert.deepEqual(row[key], all[i]![key], `${key} of event ${i}`);
  for (const task of new Set(all.map((event) => event.task)))
    assert.deepEqual(
      seen.events((_, id) => id === task && task !== undefined),
      all.filter((event) => event.task === task && task !== undefined),
    );
  const isEnd = (name = ''): boolean => name.startsWith('task.');
  const ends = all.filter(({ name }) => isEnd(name));
  assert.deepEqual(seen.events(isEnd, { limit: 3 }), ends.slice(-3));
  for (const since of TIMES)
    assert.deepEqual(
      seen.events(isEnd, { since }),
      // A damaged line may have no time. It counts unless a time is asked for.
      ends.filter(({ at }) => since === '' || at >= since),
    );
  const kin = kinIn(all);
  const indexedKin = kinIn(seen.lineage());
  for (const { task = '' } of all)
    assert.deepEqual([indexedKin.rootOf(task), indexedKin.parentOf(task)], [kin.rootOf(task), kin.parentOf(task)]);
  const calls = all.flatMap(callOf);
  for (const since of TIMES)
    assert.deepEqual(
      [...seen.calls(since)].map(({ at, kind, task, agent, ms, microUsd }) => ({
        at,
        kind,
        task,
        agent,
        ms,
        microUsd,
      })),
      calls.filter(({ at }) => at >= since),
    );
}

function callOf(event: Event) {
  const kind = { 'model.answered': 'model', 'tool.ran': 'tool' }[event.name as string];
  if (kind === undefined || event['made'] === false || typeof event.at !== 'string') return [];
  const { ms, microUsd } = callCost(event);
  return [{ at: event.at, kind, task: event.task, agent: event.agent, ms, microUsd }];
}

type Step = (site: Site, pick: <T>(from: readonly T[]) => T | undefined, n: number) => void;

const days = ({ log }: Site): string[] => fs.readdirSync(log).map((name) => path.join(log, name));
const indexFiles = ({ folder }: Site): string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
const line = (n: number, more: object = {}): string =>
  `${JSON.stringify({ at: new Date(n * 1e6).toISOString(), name: 'tool.ran', task: `t${n % 5}`, tool: 'x', ms: n, ...more })}\n`;

const STEPS: Record<string, Step> = {
  append: (site, pick, n) => fs.appendFileSync(pick(days(site)) ?? path.join(site.log, 'a.jsonl'), line(n)),
  'append much': (site, pick, n) =>
    fs.appendFileSync(pick(days(site)) ?? path.join(site.log, 'a.jsonl'), line(n, { root: 'r' }).repeat(40)),
  'begin a day': (site, _, n) => fs.writeFileSync(path.join(site.log, `day ${n}.jsonl`), line(n)),
  'append a torn line': (site, pick, n) =>
    fs.appendFileSync(pick(days(site)) ?? path.join(site.log, 'a.jsonl'), line(n).slice(0, 30)),
  'append lines that are no events': (site, pick) =>
    fs.appendFileSync(pick(days(site)) ?? path.join(site.log, 'a.jsonl'), '\n5\nnull\n{"at\n\n'),
  'append odd values': (site, pick, n) =>
    fs.appendFileSync(
      pick(days(site)) ?? path.join(site.log, 'a.jsonl'),
      line(n, { at: '2026-01-01', agent: '\ud800', made: n % 2 === 0 }) +
        line(n, { ms: 'many', task: undefined, parent: '' }),
    ),
  'edit a byte': (site, pick, n) => {
    const file = pick(days(site));
    if (file === undefined || fs.statSync(file).size === 0) return;
    const bytes = fs.readFileSync(file);
    bytes[n % bytes.length] = 97 + (n % 26);
    fs.writeFileSync(file, bytes);
  },
  'replace a day by a longer one': (site, pick, n) => {
    const file = pick(days(site));
    if (file !== undefined) fs.writeFileSync(file, line(n) + fs.readFileSync(file, 'utf8'));
  },
  'cut a day': (site, pick, n) => {
    const file = pick(days(site));
    if (file !== undefined) fs.truncateSync(file, n % (fs.statSync(file).size + 1));
  },
  'delete a day': (site, pick) => {
    const file = pick(days(site));
    if (file !== undefined) fs.rmSync(file);
  },
  'delete the index': ({ folder }) => fs.rmSync(folder, { recursive: true, force: true }),
  'delete a part of the index': (site, pick) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) fs.rmSync(file);
  },
  'damage a byte of the index': (site, pick, n) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) damage(file, n);
  },
  'tear the index': (site, pick, n) => {
    const file = pick(indexFiles(site));
    if (file !== undefined) fs.truncateSync(file, n % fs.statSync(file).size);
  },
  'put a foreign file into the index': ({ folder }, _, n) => {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, n % 2 ? 'events-x' : 'events-2026-01-01.jsonl-000000000000'), 'foreign');
  },
  'look with another process': ({ root }) => {
    eventIndex({ root, version: '1', leastBytes: 0, grownBytes: 1, partBytes: 999, quietMs: Infinity }).look();
  },
  'use another version': ({ root }) => {
    eventIndex({ root, version: '2', leastBytes: 0, quietMs: 0 }).look();
  },
};

function damage(file: string, at: number): void {
  const bytes = fs.readFileSync(file);
  bytes[at % bytes.length]! ^= 1 + (at % 255);
  fs.writeFileSync(file, bytes);
}

for (const [kind, quietMs] of [
  ['still grows', Infinity],
  ['is quiet', 0],
] as const)
  test(`after any changes to a log that ${kind}, the index says what the log says`, async (t) => {
    const step = fc.record({ what: fc.constantFrom(...Object.keys(STEPS)), n: fc.nat(1_000_000) });
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.array(step, { minLength: 1, maxLength: 12 }), async (count, steps) => {
        const here = site(t, { count, seed: count, quietMs });
        await here.check();
        for (const { what, n } of steps) {
          STEPS[what]!(here, (from) => from[n % from.length], n);
          await here.check();
        }
      }),
      { numRuns: runs(20) },
    );
  });

test('damage to any byte of the index of events is noticed', async (t) => {
  const here = site(t, { count: 60, seed: 3 });
  await settled(here);
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
    { numRuns: runs(60) },
  );
});

test('a look at a log that did not change writes nothing', async (t) => {
  const here = site(t, { count: 60 });
  await settled(here);
  const before = indexFiles(here).map((file) => `${file} ${fs.statSync(file).ctimeMs}`);
  assert.ok(before.length > 0);
  await here.check();
  assert.deepEqual(
    indexFiles(here).map((file) => `${file} ${fs.statSync(file).ctimeMs}`),
    before,
  );
});

test('a log that grows is parsed from where the index ends', async (t) => {
  const here = site(t, { count: 30, quietMs: Infinity });
  here.index.look();
  const first = indexFiles(here);
  const stamps = first.map((file) => fs.statSync(file).ino);
  for (const file of days(here)) fs.appendFileSync(file, line(1).repeat(20));
  await here.check();
  assert.deepEqual(
    first.map((file) => fs.statSync(file).ino),
    stamps,
  );
  assert.ok(indexFiles(here).length > first.length);
});

test('queries of events work without an index if it cannot be written', async (t) => {
  const here = site(t, { count: 30 });
  fs.writeFileSync(here.folder, 'in the way');
  await here.check();
});

/** Looks until the stamps of the log are old enough to be trusted. */
async function settled(site: Site): Promise<void> {
  const stamps = (): string =>
    indexFiles(site)
      .map((file) => fs.statSync(file).ino)
      .join();
  for (let before; before !== stamps();) {
    before = stamps();
    site.index.look();
  }
}
