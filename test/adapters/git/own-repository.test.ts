/**
 * History in its own repository: the files in it, the files never in it, and how it repairs itself.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { clock } from '../../../src/adapters/clock/index.js';
import { ProblemError } from '../../../src/domain/problem.js';
import { asPerson, ground } from '../../kit/history/ground.js';
import { until } from '../../kit/until.js';

test('a commit has the files that the program changed, under its own name', async (t) => {
  const { history, write, remove, own } = ground(t);
  write('memory/a.md', 'one\n');
  assert.equal(await history.commit('planner looked', 'a-task @planner task.completed'), true);
  assert.equal(await history.commit('nothing', ''), false);
  assert.equal(
    own('show', '-s', '--format=%an <%ae>%n%s%n%n%b', 'HEAD'),
    'guild <guild@localhost>\nplanner looked\n\na-task @planner task.completed',
  );
  assert.equal(own('show', 'HEAD:memory/a.md'), 'one');
  remove('memory/a.md');
  write('memory/b "quoted"\n\\ ü.md', 'two\n');
  await history.commit('moved', '');
  assert.equal(own('ls-tree', '-r', '-z', '--name-only', 'HEAD'), 'memory/b "quoted"\n\\ ü.md\0');
  await history.close();
  own('fsck', '--strict');
});

test('ended work is by time inside history only, and keeps its place there when it changes', async (t) => {
  const { root, history, write, remove, own, again } = ground(t);
  for (const file of ['tasks/completed/t.json', 'results/t.md', 'sessions/p-t.session.yaml']) {
    write(file, 'a');
    fs.utimesSync(path.join(root, file), new Date(), new Date('2026-01-31T09:05:00Z'));
  }
  await history.commit('ended', '');
  const names = (): string[] => own('ls-tree', '-r', '--name-only', 'HEAD').split('\n');
  assert.deepEqual(names(), [
    'results/2026-01/31/09/05/t.md',
    'sessions/2026-01/31/09/05/p-t.session.yaml',
    'tasks/completed/2026-01/31/09/05/t.json',
  ]);
  write('results/t.md', 'b');
  remove('tasks/completed/t.json');
  await history.commit('changed later', '');
  assert.deepEqual(names(), ['results/2026-01/31/09/05/t.md', 'sessions/2026-01/31/09/05/p-t.session.yaml']);
  await history.close();
  fs.rmSync(path.join(root, '.guild/history/stamps'));
  const next = again();
  fs.writeFileSync(path.join(root, 'results/t.md'), 'c');
  next.changed(path.join(root, 'results/t.md'));
  await next.commit('by another process that lost the stamps', '');
  assert.deepEqual(names(), ['results/2026-01/31/09/05/t.md', 'sessions/2026-01/31/09/05/p-t.session.yaml']);
});

const SECRETS = [
  '.env',
  '.env.local',
  'secrets/key',
  'memory/secrets/token',
  'memory/x.pem',
  'context/id_rsa',
  'context/.netrc',
  'context/.aws/credentials',
];

test('secrets, private files and nested repositories are never in history', async (t) => {
  const { root, history, edit, write, own } = ground(t);
  const hidden = [
    ...SECRETS,
    '.guild/run/a.started',
    'agents/live/p.json',
    'agents/registry.json',
    'events/2026-01-01.jsonl',
    'bus/state.jsonl',
    'workspaces/ana/.git/config',
    'plugins/p/node_modules/x/index.js',
    'context/.guild-0123456789abcdef01.tmp',
  ];
  for (const file of hidden) edit(file, 'found by the walk');
  await history.commit('first', '', { evenIfSame: true });
  for (const file of hidden) write(file, 'noted by the program');
  write('context/clone/file.md', 'theirs');
  execFileSync('git', ['init', '-q'], { cwd: path.join(root, 'context/clone') });
  edit('src/main.ts', 'a file of the surrounding repository');
  write('context/own.md', 'ours');
  write('src/by-a-tool.ts', 'a tool wrote it');
  write('workspaces/ana/note.md', 'a tool wrote it');
  await history.commit('second', '');
  await history.tend();
  await history.close();
  assert.deepEqual(own('ls-tree', '-r', '--name-only', 'HEAD').split('\n'), [
    'context/own.md',
    'src/by-a-tool.ts',
    'workspaces/ana/note.md',
  ]);
});

test('a task that moves during a commit is in it, at its old or new place', async (t) => {
  const { root, history, write, own } = ground(t);
  const folders = ['pending', 'waiting', 'failed'];
  for (const folder of folders) fs.mkdirSync(path.join(root, 'tasks', folder), { recursive: true });
  for (let i = 0; i < 20; i++) write(`tasks/pending/t${i}.json`, `{"description":"${i}"}`);
  await history.commit('start', '');
  for (let round = 0; round < 8; round++) {
    const [from, to] = [folders[round % 3]!, folders[(round + 1) % 3]!];
    for (let i = 0; i < 20; i++) {
      const [old, now] = [from, to].map((folder) => path.join(root, 'tasks', folder, `t${i}.json`)) as [string, string];
      fs.renameSync(old, now);
      history.changed(old);
      // Another process moved the odd files, and this process does not know where they are now.
      if (i % 2 === 0) history.changed(now);
    }
    await history.commit(`round ${round}`, '', { evenIfSame: true });
  }
  for (const { id, subject } of await history.log()) {
    const files = own('ls-tree', '-r', '--name-only', id, 'tasks').split('\n');
    assert.equal(new Set(files.map((file) => path.basename(file))).size, 20, subject);
  }
});

test('a half-made repository is completed, and an unreadable one is moved away with a note', async (t) => {
  const { root, history, write, own, again } = ground(t);
  write('memory/a.md', 'one\n');
  await history.commit('first', '');
  await history.close();
  const gitDir = path.join(root, '.guild/history.git');
  const commit = async (subject: string): Promise<void> => {
    const next = again();
    fs.writeFileSync(path.join(root, 'memory/a.md'), `${subject}\n`);
    next.changed(path.join(root, 'memory/a.md'));
    await next.commit(subject, '');
    await next.close();
  };
  for (const part of ['HEAD', 'config', 'hooks']) fs.rmSync(path.join(gitDir, part), { force: true });
  await commit('without HEAD and config');
  fs.writeFileSync(path.join(gitDir, 'refs/heads/main'), '');
  await commit('with an empty branch');
  assert.deepEqual(own('log', '--format=%s').split('\n'), ['with an empty branch', 'without HEAD and config', 'first']);
  for (const damage of [
    () => fs.rmSync(path.join(gitDir, 'objects'), { recursive: true }),
    () => {
      for (const name of fs.readdirSync(path.join(gitDir, 'objects/pack')))
        fs.writeFileSync(path.join(gitDir, 'objects/pack', name), 'not a pack');
    },
    () => fs.rmSync(path.join(gitDir, 'refs'), { recursive: true }),
  ]) {
    damage();
    await commit('after the damage');
    assert.match(own('log', '--format=%s'), /^after the damage\n|^history begins|^after the damage$/);
    assert.equal(own('show', 'HEAD:memory/a.md'), 'after the damage');
    own('fsck', '--strict');
  }
  const notes = fs.readdirSync(path.join(root, '.guild')).filter((name) => name.endsWith('.txt'));
  assert.ok(notes.length >= 1, 'a note says why');
  assert.match(fs.readFileSync(path.join(root, '.guild', notes[0]!), 'utf8'), /could not read this history/);
});

test('R3: nothing is swept by age: a process that lives for an hour keeps committing, and so do others', async (t) => {
  const { root, history, write, own, again } = ground(t);
  write('memory/a.md', '0');
  await history.commit('first', '');
  const hour = 3_600_000;
  let aheadMs = 0;
  const real = clock();
  const later = { ...real, now: () => new Date(Date.now() + aheadMs), monotonicMs: () => real.monotonicMs() + aheadMs };
  const watch = again({ clock: later });
  for (let i = 1; i <= 3; i++) {
    aheadMs += hour;
    const past = new Date(Date.now() - hour);
    for (const entry of fs.readdirSync(path.join(root, '.guild'), { recursive: true, encoding: 'utf8' }))
      fs.utimesSync(path.join(root, '.guild', entry), past, past);
    for (const [name, one] of [
      ['a', history],
      ['b', watch],
    ] as const) {
      fs.writeFileSync(path.join(root, `memory/${name}.md`), String(i));
      one.changed(path.join(root, `memory/${name}.md`));
      await one.commit(`${name} ${i}`, '', { evenIfSame: true });
    }
    await history.tend();
  }
  const commits = own('rev-list', '--count', 'HEAD');
  for (let i = 0; i < 5; i++) {
    await history.tend();
    await watch.tend();
  }
  assert.equal(own('rev-list', '--count', 'HEAD'), commits, 'no commits while nothing happens');
  await watch.close();
  await history.close();
  const subjects = own('log', '--format=%s')
    .split('\n')
    .filter((line) => /^[ab] /.test(line));
  assert.deepEqual(subjects.sort(), ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3']);
});

test('without git the reason is reported, and nothing is lost when it is back', async (t) => {
  const { root, write, own, again } = ground(t);
  write('memory/a.md', 'one');
  const nowhere = again({ env: { PATH: '/nowhere' } });
  nowhere.changed(path.join(root, 'memory/a.md'));
  await assert.rejects(
    nowhere.commit('x', ''),
    (thrown) => thrown instanceof ProblemError && thrown.problem.code === 'not_found',
  );
  await assert.rejects(nowhere.close());
  const next = again();
  await next.commit('back', '', { evenIfSame: true });
  assert.equal(own('show', 'HEAD:memory/a.md'), 'one');
});

test('packs are merged beside the work', async (t) => {
  const { root, write, own, again } = ground(t);
  write('memory/a.md', '0');
  const packs = (): number =>
    fs.readdirSync(path.join(root, '.guild/history.git/objects/pack')).filter((name) => name.endsWith('.pack')).length;
  const one = again();
  for (let i = 1; i <= 120; i++) {
    fs.writeFileSync(path.join(root, 'memory/a.md'), String(i));
    one.changed(path.join(root, 'memory/a.md'));
    await one.commit(`commit ${i}`, '');
  }
  await one.close();
  await until(() => packs() <= 60);
  assert.equal(own('rev-list', '--count', 'HEAD'), '120');
  // Another merge of packs may still be running, and fsck does not like files that disappear.
  await until(() => {
    try {
      own('fsck', '--strict');
      return true;
    } catch {
      return false;
    }
  });
});

test('the private folder is invisible to a git around it', async (t) => {
  const { root, history, write } = ground(t, { inside: 'big/work' });
  const big = path.dirname(root);
  asPerson(big, 'init', '-q', '-b', 'main');
  write('memory/a.md', 'a');
  assert.deepEqual(history.state(), { on: true });
  await history.commit('x', '');
  assert.equal(asPerson(big, 'status', '--porcelain', '-uall'), '?? work/memory/a.md');
});
