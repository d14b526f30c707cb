/** Reading history and going back in it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ProblemError } from '../../../src/domain/problem.js';
import { ground } from '../../kit/history/ground.js';

test('undo restores files as a new commit, can be undone, and keeps events and mail', async (t) => {
  const { history, write, edit, read, remove } = ground(t);
  write('tasks/pending/t.json', '{"description":"x"}');
  write('events/2026-01-01.jsonl', 'one\n');
  await history.commit('asked', 't @planner task.created');
  remove('tasks/pending/t.json');
  write('tasks/completed/t.json', '{"description":"x","result":"y"}');
  write('events/2026-01-01.jsonl', 'one\ntwo\n');
  write('inbox/slack.jsonl', '{}\n');
  write('.guild/run/t.call.done', 'yes');
  await history.commit('answered', 't @planner task.completed');
  edit('memory/new.md', 'not yet committed');
  const [answered, asked] = await history.log({ task: 't' });
  assert.deepEqual((await history.changes(asked!.id.slice(0, 10))).files, [
    { path: 'memory/new.md', change: 'taken away' },
    { path: 'tasks/completed/t.json', change: 'taken away' },
    { path: 'tasks/pending/t.json', change: 'brought back' },
  ]);
  await history.undo(asked!.id);
  assert.deepEqual(
    [
      'tasks/pending/t.json',
      'tasks/completed/t.json',
      'memory/new.md',
      'events/2026-01-01.jsonl',
      'inbox/slack.jsonl',
      '.guild/run/t.call.done',
    ].map(read),
    ['{"description":"x"}', undefined, undefined, 'one\ntwo\n', '{}\n', 'yes'],
  );
  const log = await history.log();
  assert.match(log[0]!.subject, /^undo: back to [0-9a-f]{10}, asked$/);
  assert.equal(log[1]!.subject, 'by hand: memory/new.md');
  assert.ok(log[1]!.by !== undefined && log[0]!.by === undefined, 'the log says whose change it was');
  await history.undo(log[1]!.id);
  assert.equal(read('memory/new.md'), 'not yet committed');
  assert.equal(answered!.subject, 'answered');
  for (const unknown of ['HEAD', '--all', 'ffffffff', '']) {
    await assert.rejects(
      history.undo(unknown),
      (thrown) => thrown instanceof ProblemError && thrown.problem.code === 'not_found',
    );
  }
});

test('undo keeps bytes, modes and links, and leaves files that history does not cover', async (t) => {
  const { root, history, write, edit, read } = ground(t);
  const odd = Buffer.from([0, 255, 10, 13, 0, 128]);
  write('context/odd.bin', '');
  fs.writeFileSync(path.join(root, 'context/odd.bin'), odd);
  write('plugins/p/run.sh', '#!/bin/sh\n');
  fs.chmodSync(path.join(root, 'plugins/p/run.sh'), 0o755);
  fs.symlinkSync('odd.bin', path.join(root, 'context/link'));
  history.changed(path.join(root, 'context/link'));
  edit('src/main.ts', 'mine');
  await history.commit('first', '');
  for (const file of ['context/odd.bin', 'plugins/p/run.sh']) write(file, 'changed');
  fs.rmSync(path.join(root, 'context/link'));
  history.changed(path.join(root, 'context/link'));
  edit('src/main.ts', 'mine, later');
  await history.commit('second', '');
  await history.undo('HEAD~1');
  assert.deepEqual(fs.readFileSync(path.join(root, 'context/odd.bin')), odd);
  assert.equal(fs.statSync(path.join(root, 'plugins/p/run.sh')).mode & 0o777, 0o755);
  assert.equal(fs.readlinkSync(path.join(root, 'context/link')), 'odd.bin');
  assert.equal(read('src/main.ts'), 'mine, later');
});

test('the log of a task does not include tasks with similar ids', async (t) => {
  const { history, write } = ground(t);
  for (const [i, id] of ['redis', 'redis-2', 'redis.call-1', 'my-redis'].entries()) {
    write('memory/a.md', String(i));
    await history.commit(`${id}: planner answered`, `${id} @planner task.completed`);
  }
  const commits = await history.log({ task: 'redis' });
  assert.deepEqual(
    commits.map(({ subject }) => subject),
    ['redis.call-1: planner answered', 'redis: planner answered'],
  );
});

test('commits that an earlier version made on the branch are in the log, and undo goes back to them', async (t) => {
  const { history, write, edit, git: person, read } = ground(t);
  person('init', '-q', '-b', 'main');
  edit('memory/a.md', 'old\n');
  edit('src/main.ts', 'old');
  edit('results/r.md', 'old result');
  person('add', '-A');
  person('-c', 'user.name=guild', '-c', 'user.email=guild@localhost', 'commit', '-q', '-m', 'r: planner answered');
  person('commit', '-q', '--allow-empty', '-m', 'my own commit');
  const head = person('rev-parse', 'HEAD');
  edit('src/main.ts', 'new');
  edit('results/r.md', 'new result');
  write('memory/a.md', 'new\n');
  write('memory/b.md', 'new\n');
  await history.commit('planner remembered', '');
  const log = await history.log();
  // On a slow machine, earlier results are committed after the work instead of before it.
  assert.deepEqual(
    log
      .map(({ subject }) => subject)
      .slice(0, 2)
      .sort(),
    ['history begins: 1 file that was there', 'planner remembered'],
  );
  assert.deepEqual(log.map(({ subject }) => subject).slice(2), ['r: planner answered']);
  assert.deepEqual(
    (await history.log({ task: 'r' })).map(({ subject }) => subject),
    ['r: planner answered'],
  );
  await history.undo(log[2]!.id);
  assert.deepEqual(['memory/a.md', 'memory/b.md', 'results/r.md', 'src/main.ts'].map(read), [
    'old\n',
    undefined,
    'old result',
    'new',
  ]);
  assert.equal(person('rev-parse', 'HEAD'), head);
});
