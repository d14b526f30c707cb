/**
 * Commands that sum up 600 finished tasks give the same answers with an index, without one, and by
 * a full read.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { taskIndex } from '../../../src/adapters/task-index/index.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { callCost } from '../../../src/domain/event.js';
import { kinIn } from '../../../src/domain/task/lineage.js';
import { unknownColumn } from '../../../src/text/query/columns.js';
import { parseQuery, select, tableOf, type Row, type Select } from '../../../src/text/query/query.js';
import { writeFinishedTasks } from '../../../bench/harness/finished-workspace.js';
import { place, type Place } from '../../kit/guild.js';
import { plainEnded, plainEvents } from './plain-rows.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/task-index/commands', 4);

const COUNT = 600;

interface Many extends Place {
  ids: string[];
  index: string;
}

function many(t: TestContext): Many {
  const here = place(t);
  const { ids } = writeFinishedTasks(here.root, COUNT, { seed: 11, pages: false });
  return { ...here, ids, index: path.join(here.root, '.guild', 'index') };
}

const TASK_QUERIES = [
  'SELECT COUNT(*) FROM tasks',
  "SELECT COUNT(*) FROM tasks WHERE state = 'failed' AND to = 'writer'",
  "SELECT id, usage.input_tokens FROM tasks WHERE usage.input_tokens > 2000 AND NOT to IN ('writer') ORDER BY usage.input_tokens DESC, id",
  'SELECT id, ended_at, error.message FROM tasks ORDER BY created_at DESC LIMIT 7',
  "SELECT * FROM tasks WHERE description LIKE '%service 12_ %' AND parent IS NULL",
  'SELECT * FROM tasks LIMIT 3',
  "SELECT id FROM tasks WHERE note = 'mine' OR a.b CONTAINS 4",
  'SELECT id FROM tasks WHERE description = "nothing of this"',
];
const EVENT_QUERIES = [
  'SELECT COUNT(*) FROM events',
  "SELECT at, task FROM events WHERE name = 'tool.ran' AND agent = 'writer' ORDER BY at DESC LIMIT 4",
  "SELECT * FROM events WHERE micro_usd > 4990 AND model LIKE 'house/%'",
  'SELECT COUNT(*) FROM events WHERE usage.busy_ms < 100',
];

test('queries give the same rows with an index, without one, and by a full read', async (t) => {
  const here = many(t);
  here.put(
    'tasks/completed/own.json',
    '{"description": "x", "note": "mine", "a": {"b": [4]}, "created_at": "2026-02-01"}',
  );
  const rows = { tasks: (await plainEnded(here.root)).rows, events: await plainEvents(here.root) };
  const plain = (query: string, from: readonly Row[]): unknown =>
    JSON.parse(JSON.stringify(select(parsed(query), tableOf(from))));
  for (const what of ['new', 'kept', 'deleted', 'in the way']) {
    if (what === 'deleted') fs.rmSync(here.index, { recursive: true });
    if (what === 'in the way') {
      fs.rmSync(here.index, { recursive: true });
      fs.writeFileSync(here.index, '');
    }
    for (const query of TASK_QUERIES) assert.deepEqual(await asked(here, query), plain(query, rows.tasks), query);
    for (const query of EVENT_QUERIES) assert.deepEqual(await asked(here, query), plain(query, rows.events), query);
    if (what === 'kept') assert.ok(fs.readdirSync(here.index).some((name) => name.startsWith('tasks-')));
  }
});

async function asked(here: Many, query: string): Promise<unknown> {
  const { out, code, err } = await here.guild('query', query, '--json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

function parsed(text: string): Select {
  const read = parseQuery(text);
  assert.ok(read.ok);
  return read.query as Select;
}

test('an unknown column is reported as by a full read', async (t) => {
  const here = many(t);
  here.put('tasks/completed/own.json', '{"description": "x", "colour": "red"}');
  for (const column of ['colur', 'descripton', 'zzzzzzzzzzzz']) {
    const query = `SELECT id FROM tasks WHERE ${column} = 'x'`;
    const { rows } = await plainEnded(here.root);
    const { TABLES } = await import('../../../src/adapters/boards/tables.js');
    const { message, hint } = unknownColumn(parsed(query), tableOf(rows), TABLES.tasks)!;
    const { code, err } = await here.guild('query', query);
    assert.equal(code, 2);
    assert.ok(err.includes(message) && err.includes(hint!), err);
  }
});

test('edits, additions and deletions by people count at once', async (t) => {
  const here = many(t);
  const count = async (where: string): Promise<number> =>
    ((await asked(here, `SELECT COUNT(*) FROM tasks WHERE ${where}`)) as [{ count: number }])[0].count;
  assert.equal(await count("description = 'changed'"), 0);
  const [first = '', second = '', third = ''] = here.list('tasks/completed');
  const edit = (name: string): string =>
    here.read(`tasks/completed/${name}`).replace(/"description": "[^"]*"/, '"description": "changed"');
  here.put(`tasks/completed/${first}`, edit(first));
  assert.equal(await count("description = 'changed'"), 1);
  here.put('tasks/second.tmp', edit(second));
  fs.renameSync(path.join(here.root, 'tasks/second.tmp'), path.join(here.root, 'tasks/completed', second));
  assert.equal(await count("description = 'changed'"), 2);
  fs.rmSync(path.join(here.root, 'tasks/completed', third));
  assert.equal(await count('id IS NOT NULL'), COUNT - 1);
  fs.mkdirSync(path.join(here.root, 'tasks/pending'), { recursive: true });
  fs.renameSync(path.join(here.root, 'tasks/completed', first), path.join(here.root, 'tasks/pending', first));
  assert.equal(await count("state = 'pending'"), 1);
  assert.equal(await count("state != 'pending'"), COUNT - 2);
});

test('guild cost sums every tree exactly, in any width', async (t) => {
  const here = many(t);
  const events = await plainEvents(here.root);
  const { rootOf } = kinIn(events);
  const sums = new Map<string, number>();
  for (const event of events.filter(({ name }) => name === 'model.answered'))
    sums.set(rootOf(event.task!), (sums.get(rootOf(event.task!)) ?? 0) + callCost(event).microUsd);
  for (const _ of ['new', 'kept']) {
    const { rows } = JSON.parse((await here.guild('cost', '--by', 'task', '--json')).out) as Costs;
    assert.deepEqual(new Map(rows.map(({ key, micro_usd }) => [key, micro_usd])), sums);
  }
  const { out } = await here.guildWith({ tty: { columns: 60, rows: 30 } }, 'cost', '--by', 'task');
  assert.equal(out.trimEnd().split('\n').length, sums.size + 1);
  const since = JSON.parse((await here.guild('cost', '--since', '2026-01-20T12:00:00.000Z', '--json')).out) as Costs;
  const later = events.filter(({ name, at }) => name === 'model.answered' && at >= '2026-01-20T12:00:00.000Z');
  assert.equal(since.total.calls, later.length);
});

interface Costs {
  rows: { key: string; micro_usd: number }[];
  total: { calls: number };
}

test('guild why, top, check and task list --all answer from the index as from the files', async (t) => {
  const here = many(t);
  const child = here.ids.find((id) => id.includes('.'))!;
  const parent = child.slice(0, child.indexOf('.'));
  const events = await plainEvents(here.root);
  const microUsd = events.filter(({ name }) => name === 'model.answered').map((event) => callCost(event).microUsd);
  for (const _ of ['new', 'kept']) {
    const why = JSON.parse((await here.guild('why', parent, '--json')).out) as {
      events: unknown[];
      story: { text: string }[];
    };
    assert.deepEqual(why.events, await plainEvents(here.root, parent));
    assert.ok(why.story.some(({ text }) => text.includes(child)));
    const top = JSON.parse((await here.guild('top', '--json')).out) as {
      spent: { micro_usd: number };
      latest: unknown[];
    };
    assert.equal(
      top.spent.micro_usd,
      microUsd.reduce((sum, each) => sum + each, 0),
    );
    assert.deepEqual(top.latest, events.filter(({ name }) => name !== 'model.answered').slice(-100));
    assert.equal((await here.guild('check')).code, 0);
    const { rows } = await plainEnded(here.root);
    const listed = JSON.parse((await here.guild('task', 'list', '--all', '--limit', '20', '--json')).out) as {
      id: string;
    }[];
    assert.deepEqual(
      listed.map(({ id }) => id),
      rows.slice(0, 20).map((row) => row['id']),
    );
  }
  here.put('tasks/failed/torn.json', '{"descr');
  const { code, err } = await here.guild('check');
  assert.equal(code, 1);
  assert.match(err, /tasks\/failed\/torn\.json/);
});

test('work in a workspace makes no index, and a command without a change writes nothing', async (t) => {
  const here = many(t);
  await here.guild('pump');
  assert.ok(!fs.existsSync(here.index));
  const state = (): string[] =>
    here.list('.guild/index').map((name) => `${name} ${fs.statSync(path.join(here.index, name)).ctimeMs}`);
  const look = async (): Promise<void> => {
    for (const query of ['SELECT COUNT(*) FROM tasks', 'SELECT COUNT(*) FROM events']) await here.guild('query', query);
  };
  await look();
  await look(); // files that were very young are indexed now
  const before = state();
  assert.ok(before.length > 0);
  for (const words of [['cost'], ['check'], ['top'], ['why', here.ids[0]!], ['task', 'list', '--all']])
    await here.guild(...words);
  await look();
  assert.deepEqual(state(), before);
});

test('processes that index at once disturb neither each other nor a reader', async (t) => {
  const here = many(t);
  const query = ['query', 'SELECT COUNT(*) FROM tasks', '--json'];
  const racers = [1, 2, 3].map(() => here.spawn(...query).ended);
  const index = taskIndex({ root: here.root, disk: disk(), version: 'other', least: 1 });
  for (let n = 0; n < 3; n++) assert.equal(index.look().size, COUNT);
  for (const { out } of await Promise.all(racers)) assert.deepEqual(JSON.parse(out), [{ count: COUNT }]);
  assert.deepEqual(await asked(here, query[1]!), [{ count: COUNT }]);
});

test('a terminal sees how far a long rebuild is, and nothing of it remains', async (t) => {
  const here = many(t);
  const { progressOn } = await import('../../../src/cli/render/progress.js');
  const drawn: string[][] = [];
  const terminal = {
    live: true,
    dim: (text: string) => text,
    dock: (rows: string[]) => drawn.push(rows),
  };
  const report = progressOn(terminal as never, 'indexing');
  const from = performance.now();
  report(0, 100);
  while (drawn.length === 0 && performance.now() - from < 5000) report(40, 100);
  report(100, 100);
  assert.deepEqual(drawn, [['indexing: 40 %'], []]);
  const piped = await here.guild('query', 'SELECT COUNT(*) FROM tasks');
  assert.doesNotMatch(piped.err, /indexing/);
});
