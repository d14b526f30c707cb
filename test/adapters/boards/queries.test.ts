/** Queries on real files are durable, atomic, and never overwrite a concurrent change. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { ids as realIds } from '../../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../../src/adapters/disk/index.js';
import {
  lintFile,
  runQuery,
  type QueryOptions,
  type QueryReply,
  type Sources,
  type WantedTasks,
} from '../../../src/adapters/boards/queries.js';
import { ProblemError } from '../../../src/domain/problem.js';
import type { Disk } from '../../../src/ports/disk.js';
import { tableOf, type Table } from '../../../src/text/query/query.js';
import { MESSY, REDIS } from '../../kit/boards.js';

interface Workspace {
  root: string;
  /** The ended tasks that each query on the table of tasks asked for. */
  wanted: (WantedTasks | undefined)[];
  ask(query: string, options?: QueryOptions, disk?: Disk): Promise<QueryReply>;
  write(file: string, text: string | Buffer): void;
  read(file: string): string;
}

function workspace(t: TestContext): Workspace {
  const root = tempFolder('boards', t);
  const tasks = [
    { id: 't1', state: 'pending', priority: 'B' },
    { id: 't2', state: 'failed', priority: 'A' },
  ];
  const none = async (): Promise<Table> => tableOf([]);
  const wanted: (WantedTasks | undefined)[] = [];
  const sources: Sources = {
    tasks: async (which) => (wanted.push(which), tableOf(tasks)),
    ...{ sessions: none, agents: none, events: none },
  };
  return {
    root,
    wanted,
    ask: (query, options, disk) =>
      runQuery(query, { root, sources, disk: disk ?? realDisk(), ids: realIds() }, options),
    write(file, text) {
      fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      fs.writeFileSync(path.join(root, file), text);
    },
    read: (file) => fs.readFileSync(path.join(root, file), 'utf8'),
  };
}

const refused = (code: string) => (thrown: unknown) => thrown instanceof ProblemError && thrown.problem.code === code;

test('an insert creates the folder, the file and its heading', async (t) => {
  const { ask, read, root } = workspace(t);
  const reply = await ask(`INSERT INTO deep/er/plan.task.md SET title = 'First', id = 'one'`);
  assert.equal(reply.message, 'Inserted task one into deep/er/plan.task.md');
  assert.equal(read('deep/er/plan.task.md'), '## TODO\n\n- [ ] "First"\n  id: one\n');
  const { rows } = await ask(`INSERT INTO deep/er/plan.task.md SET title = 'Second'`);
  assert.match(String(rows[0]!['id']), /^task-[a-z0-9]{8}$/);
  assert.deepEqual(fs.readdirSync(path.join(root, 'deep/er')), ['plan.task.md'], 'no temp file is left');
});

test('an update changes only its own text, and an update without effect does not write', async (t) => {
  const { ask, read, write, root } = workspace(t);
  const text = `\ufeff${MESSY.replaceAll('\n', '\r\n')}`;
  write('x.task.md', text);
  await ask(`UPDATE x.task.md SET completed = true WHERE id = 'one'`);
  assert.equal(read('x.task.md'), text.replace('- [ ] A', '- [x] A'));
  const before = fs.statSync(path.join(root, 'x.task.md'), { bigint: true });
  const again = await ask(`UPDATE x.task.md SET completed = true WHERE id = 'one'`);
  assert.equal(again.written, undefined);
  assert.equal(fs.statSync(path.join(root, 'x.task.md'), { bigint: true }).ino, before.ino);
});

test('a concurrent write is not overwritten; the edit is repeated on the new text', async (t) => {
  const { ask, read, write } = workspace(t);
  write('x.task.md', REDIS);
  const real = realDisk();
  let writes = 0;
  const busy: Disk = {
    ...real,
    async sync(file) {
      if (writes++ < 2) write('x.task.md', `${read('x.task.md')}- [ ] "Added ${writes}"\n`);
      await real.sync(file);
    },
  };
  const reply = await ask('UPDATE x.task.md SET completed = true', { all: true }, busy);
  assert.equal(reply.rows.length, 6);
  assert.match(read('x.task.md'), /- \[x\] "Added 1"\n- \[x\] "Added 2"\n$/);
});

test('a file created concurrently is kept and extended', async (t) => {
  const { ask, read, write } = workspace(t);
  const real = realDisk();
  let first = true;
  const busy: Disk = {
    ...real,
    async sync(file) {
      if (first) write('x.task.md', '# Mine\n');
      first = false;
      await real.sync(file);
    },
  };
  await ask(`INSERT INTO x.task.md SET title = 'T', id = 't'`, {}, busy);
  assert.equal(read('x.task.md'), '# Mine\n\n## TODO\n\n- [ ] "T"\n  id: t\n');
});

test('a failed query changes nothing', async (t) => {
  const { ask, read, write } = workspace(t);
  write('x.task.md', REDIS);
  for (const [query, code] of [
    [`DELETE FROM x.task.md WHERE priority !== 'A'`, 'bad_usage'],
    ['DELETE FROM x.task.md', 'bad_usage'],
    [`UPDATE x.task.md SET priority = 'Z' WHERE id = 'task-001'`, 'bad_field'],
    [`DELETE FROM nothere.task.md WHERE id = 'x'`, 'not_found'],
    [`SELECT * FROM nonsense`, 'bad_usage'],
    [`SELECT * FROM toString`, 'bad_usage'],
    [`UPDATE tasks SET a = 1 WHERE b = 2`, 'bad_usage'],
    [`INSERT INTO events SET title = 'T'`, 'bad_usage'],
  ] as const) {
    await assert.rejects(ask(query), refused(code), query);
  }
  assert.equal(read('x.task.md'), REDIS);
});

test('a query on something that is not a text file is refused', async (t) => {
  const { ask, write, root } = workspace(t);
  write('bad.task.md', Buffer.from([0x23, 0xff, 0xfe]));
  fs.mkdirSync(path.join(root, 'folder.task.md'));
  write('real.task.md', REDIS);
  fs.symlinkSync(path.join(root, 'real.task.md'), path.join(root, 'link.task.md'));
  for (const file of ['bad', 'folder', 'link']) {
    await assert.rejects(ask(`UPDATE ${file}.task.md SET a = 1 WHERE id = 'task-001'`), refused('bad_file'), file);
  }
});

test('tables can be queried and saved as a board, JSON or JSON lines', async (t) => {
  const { ask, read } = workspace(t);
  assert.deepEqual((await ask(`SELECT id FROM tasks ORDER BY priority`)).rows, [{ id: 't2' }, { id: 't1' }]);
  const saved = await ask(`SELECT id, state FROM tasks INTO out.json`);
  assert.equal(saved.message, 'Saved tasks into out.json');
  assert.deepEqual(JSON.parse(read('out.json')), [
    { id: 't1', state: 'pending' },
    { id: 't2', state: 'failed' },
  ]);
  await ask(`SELECT * FROM tasks WHERE state = 'failed' INTO out.task.md`);
  assert.equal(read('out.task.md'), '## TODO\n\n- [ ] A "t2"\n  id: t2\n  state: failed\n');
  await assert.rejects(ask(`SELECT * FROM tasks INTO out.json`), refused('duplicate'));
  await ask(`SELECT COUNT(*) FROM tasks INTO out.json`, { force: true });
  assert.deepEqual(JSON.parse(read('out.json')), [{ count: 2 }]);
  await assert.rejects(ask(`SELECT * FROM tasks INTO out.exe`), refused('bad_usage'));
});

test('lint names file, line and caret', (t) => {
  const { root, write } = workspace(t);
  write('x.task.md', '## TODO\n- [x] "open\n- "fine"\n');
  const [first, ...more] = lintFile('x.task.md', { root, disk: realDisk() });
  assert.deepEqual(more, []);
  assert.deepEqual(first!.where, { file: 'x.task.md', line: 2, column: 7, source: '- [x] "open' });
  assert.throws(() => lintFile('nothere.task.md', { root, disk: realDisk() }), refused('not_found'));
});

test('a query on tasks reads only the ended ones that it can select', async (t) => {
  const { ask, wanted } = workspace(t);
  const asked = async (rest: string): Promise<WantedTasks | undefined> => {
    await ask(`SELECT id FROM tasks ${rest}`);
    return wanted.at(-1);
  };
  const statesOf = async (rest: string): Promise<readonly string[]> => (await asked(rest))!.states;
  assert.deepEqual(await statesOf("WHERE state = 'pending'"), []);
  assert.deepEqual(await statesOf("WHERE state IN ('pending', 'waiting') AND priority = 'A'"), []);
  assert.deepEqual(await statesOf("WHERE failed = true AND (priority = 'A' OR to = 'ana')"), ['failed']);
  assert.deepEqual(await statesOf("WHERE NOT state = 'failed'"), ['completed']);
  assert.deepEqual(await statesOf("WHERE state = 'pending' OR priority = 'A'"), ['completed', 'failed']);
  assert.deepEqual(await statesOf('LIMIT 3'), ['completed', 'failed']);
  assert.equal((await asked('LIMIT 3'))!.limit, 3);
  assert.equal((await asked("WHERE priority = 'A' LIMIT 3"))!.limit, undefined);
  assert.equal((await asked('ORDER BY id LIMIT 3'))!.limit, undefined);
  const { keep } = (await asked("WHERE priority = 'A'"))!;
  assert.deepEqual(keep({ id: 't', priority: 'A', result: 'long' }), { id: 't', priority: 'A' });
  assert.equal(keep({ id: 't', priority: 'B' }), undefined);
});

test('a query that names a column of its own reads all tasks', async (t) => {
  const { ask, wanted } = workspace(t);
  await assert.rejects(ask("SELECT id FROM tasks WHERE state = 'pending' AND colour = 'red'"), ProblemError);
  assert.deepEqual(wanted, [undefined]);
});
