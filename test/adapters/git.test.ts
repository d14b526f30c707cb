/** History on real Git: no program of a repository runs, nothing is lost, and undo works. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clock } from '../../src/adapters/clock/index.js';
import { git } from '../../src/adapters/git/index.js';
import { ProblemError } from '../../src/domain/problem.js';
import type { History } from '../../src/ports/history.js';

const CHILD = fileURLToPath(new URL('../kit/git-commit-child.js', import.meta.url));

interface Ground {
  root: string;
  history: History;
  write(file: string, text: string): void;
  read(file: string): string | undefined;
  /** Runs git as a person, with a person's configuration. */
  git(...args: string[]): string;
  again(env?: Record<string, string>): History;
}

function ground(t: TestContext, inside = ''): Ground {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-history-')));
  t.after(() => fs.rmSync(top, { recursive: true, force: true }));
  const root = path.join(top, inside);
  fs.mkdirSync(path.join(root, 'memory'), { recursive: true });
  const again = (env: Record<string, string> = {}): History => {
    const history = git({ root, env: { ...process.env, ...env }, clock: clock() });
    t.after(() => history.close());
    return history;
  };
  const at = (file: string): string => path.join(root, file);
  return {
    root,
    history: again(),
    again,
    write(file, text) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), text);
    },
    read: (file) => (fs.existsSync(at(file)) ? fs.readFileSync(at(file), 'utf8') : undefined),
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      }).trim(),
  };
}

test('the first commit creates a repository with a clean status', async (t) => {
  const { history, write, git: person } = ground(t);
  write('memory/a.md', 'one\n');
  assert.equal(await history.commit('planner looked', 'a-task @planner task.completed'), true);
  assert.equal(await history.commit('nothing', ''), false);
  assert.equal(person('status', '--porcelain'), '');
  assert.equal(
    person('show', '-s', '--format=%an <%ae>%n%s%n%n%b', 'HEAD'),
    'guild <guild@localhost>\nplanner looked\n\na-task @planner task.completed',
  );
  write('memory/a.md', 'two\n');
  assert.equal(person('status', '--porcelain'), 'M memory/a.md');
});

test('secrets, private files and nested repositories never enter history, regardless of .gitignore', async (t) => {
  const { root, history, write, git: person } = ground(t);
  write('.gitignore', '!.env\n!.guild/\n!secrets/\n!*.pem\n');
  for (const file of [
    '.env',
    '.env.local',
    'secrets/key',
    'memory/x.pem',
    '.guild/run/a.started',
    'workspaces/a/f',
    'agents/live/p.json',
  ])
    write(file, 'hidden');
  write('context/clone/file.md', 'theirs');
  execFileSync('git', ['init', '-q'], { cwd: path.join(root, 'context/clone') });
  write('context/own.md', 'ours');
  await history.commit('first', '');
  assert.deepEqual(person('ls-files').split('\n'), ['.gitignore', 'context/own.md']);
});

test('hooks, filters, monitors, pagers and signing of the repository never run', async (t) => {
  const { root, write, git: person, again, read } = ground(t);
  person('init', '-q', '-b', 'main');
  const canary = path.join(root, 'canary');
  const bite = path.join(root, '.git', 'bite');
  fs.writeFileSync(bite, `#!/bin/sh\necho "$0 $*" >> ${canary}\ncat\n`, { mode: 0o755 });
  const hooks = [
    'pre-commit',
    'post-commit',
    'prepare-commit-msg',
    'commit-msg',
    'reference-transaction',
    'post-index-change',
    'post-checkout',
    'pre-auto-gc',
    'post-rewrite',
  ];
  for (const where of ['.git/hooks', 'hooks']) {
    fs.mkdirSync(path.join(root, where), { recursive: true });
    for (const hook of hooks) fs.copyFileSync(bite, path.join(root, where, hook));
  }
  const config: [string, string][] = [
    ['core.hooksPath', path.join(root, 'hooks')],
    ['core.fsmonitor', bite],
    ['core.pager', bite],
    ['core.editor', bite],
    ['core.sshCommand', bite],
    ['credential.helper', bite],
    ['commit.gpgSign', 'true'],
    ['gpg.program', bite],
    ['filter.evil.clean', bite],
    ['filter.evil.smudge', bite],
    ['filter.evil.process', bite],
    ['filter.evil.required', 'true'],
    ['diff.evil.command', bite],
    ['diff.evil.textconv', bite],
    ['diff.external', bite],
    ['merge.evil.driver', bite],
  ];
  for (const [key, value] of config) person('config', key, value);
  fs.writeFileSync(path.join(root, '.git', 'info', 'attributes'), '* filter=evil diff=evil\n');
  write('.gitattributes', '* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n');
  write('memory/a.md', 'one $Id$\r\ntwo\n');
  const outside = {
    GIT_DIR: '/nowhere',
    GIT_EXTERNAL_DIFF: bite,
    GIT_PAGER: bite,
    GIT_EDITOR: bite,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${bite}'`,
  };
  const history = again(outside);
  assert.equal(await history.commit('first', ''), true);
  write('memory/a.md', 'three\n');
  assert.equal(await history.commit('second', ''), true);
  const [, first] = await history.log();
  await history.changes(first!.id);
  await history.undo(first!.id);
  assert.equal(read('memory/a.md'), 'one $Id$\r\ntwo\n', 'bytes are stored unchanged');
  assert.equal(fs.existsSync(canary), false, read('canary'));
  write('memory/a.md', 'four\n');
  try {
    person('add', '-A');
  } catch {
    // The hook may also make the command fail.
  }
  assert.equal(fs.existsSync(canary), true, 'the hooks do run for a person in this repository');
});

test('programs configured in a nested repository do not run', async (t) => {
  const { root, history, write, git: person } = ground(t);
  person('init', '-q', '-b', 'main');
  const inner = path.join(root, 'context', 'inner');
  fs.mkdirSync(inner, { recursive: true });
  const canary = path.join(root, 'canary');
  const bite = path.join(root, '.git', 'bite');
  fs.writeFileSync(bite, `#!/bin/sh\necho bitten >> ${canary}\n`, { mode: 0o755 });
  const inside = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: inner, stdio: 'ignore' });
  inside('init', '-q');
  inside('commit', '-q', '--allow-empty', '-m', 'x');
  person('add', 'context/inner'); // a submodule without the entry in .gitmodules
  person('commit', '-q', '-m', 'mine');
  inside('config', 'core.fsmonitor', bite);
  fs.writeFileSync(path.join(inner, 'new.md'), 'x');
  write('memory/a.md', 'a');
  await history.commit('first', '');
  const [, before] = await history.log();
  await history.undo(before!.id);
  assert.equal(fs.existsSync(canary), false);
});

test('concurrent commits of several processes lose no message and no file', async (t) => {
  const { root, history, git: person } = ground(t);
  const names = ['ana', 'bob', 'cy', 'dee'];
  const codes = await Promise.all(
    names.map(
      (name) =>
        new Promise<number | null>((resolve) => {
          const child = spawn(process.execPath, [CHILD, root, name, '5'], { stdio: ['ignore', 'inherit', 'inherit'] });
          child.on('close', resolve);
        }),
    ),
  );
  assert.deepEqual(codes, [0, 0, 0, 0]);
  const subjects = (await history.log({ limit: 100 })).map(({ subject }) => subject).sort();
  const wanted = names.flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name} ${i}`)).sort();
  assert.deepEqual(subjects, wanted);
  assert.equal(person('ls-files', 'memory').split('\n').length, 20);
  assert.equal(person('status', '--porcelain'), '');
  assert.equal(person('rev-list', '--merges', 'HEAD'), '');
  person('fsck', '--strict');
});

test('a workspace inside another repository does not touch it', async (t) => {
  const { root, history, write, again } = ground(t, 'big/work');
  const big = path.dirname(root);
  execFileSync('git', ['init', '-q'], { cwd: big });
  write('memory/a.md', 'a');
  const state = history.state();
  assert.equal(state.on, false);
  assert.match((state as { why: string }).why, /big, which is not touched/);
  assert.equal(await history.commit('x', ''), false);
  assert.deepEqual(fs.readdirSync(root), ['memory']);
  execFileSync('git', ['init', '-q'], { cwd: root });
  assert.equal(await again().commit('x', ''), true);
});

test('a link or file that points to a repository elsewhere is not followed', async (t) => {
  const { root, history, write } = ground(t, 'work');
  const other = path.join(path.dirname(root), 'other');
  fs.mkdirSync(other);
  execFileSync('git', ['init', '-q'], { cwd: other });
  write('memory/a.md', 'a');
  fs.symlinkSync(path.join(other, '.git'), path.join(root, '.git'));
  assert.equal(history.state().on, false);
  assert.equal(await history.commit('x', ''), false);
  fs.rmSync(path.join(root, '.git'));
  fs.writeFileSync(path.join(root, '.git'), `gitdir: ${other}/.git\n`);
  assert.equal(await history.commit('x', ''), false);
  assert.equal(fs.existsSync(path.join(other, '.git', 'refs', 'heads', 'main')), false);
});

test('a linked worktree has its own history', async (t) => {
  const { root, again } = ground(t, 'first');
  const person = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  person(root, 'init', '-q', '-b', 'main');
  person(root, 'commit', '-q', '--allow-empty', '-m', 'x');
  const second = path.join(path.dirname(root), 'second');
  person(root, 'worktree', 'add', '-q', '-b', 'side', second);
  fs.writeFileSync(path.join(second, 'a.md'), 'a');
  const history = git({ root: second, env: process.env, clock: clock() });
  assert.equal(await history.commit('on the side', ''), true);
  await history.close();
  assert.equal(person(second, 'log', '-1', '--format=%s').trim(), 'on the side');
  assert.equal(person(second, 'status', '--porcelain').trim(), '?? .guild/');
  assert.equal((await again().log()).length, 1);
});

test('a detached HEAD or a merge pauses history, and a stale lock does not', async (t) => {
  const { root, history, write, git: person } = ground(t);
  write('memory/a.md', 'a');
  await history.commit('first', '');
  const paused = async (message: RegExp): Promise<void> => {
    await assert.rejects(
      history.commit('x', ''),
      (thrown) => thrown instanceof ProblemError && message.test(thrown.problem.message),
    );
  };
  person('checkout', '-q', '--detach');
  write('memory/b.md', 'b');
  await paused(/detached HEAD.*work continues/);
  person('checkout', '-q', 'main');
  fs.writeFileSync(path.join(root, '.git', 'MERGE_HEAD'), `${person('rev-parse', 'HEAD')}\n`);
  await paused(/a merge is in progress/);
  fs.rmSync(path.join(root, '.git', 'MERGE_HEAD'));
  fs.writeFileSync(path.join(root, '.git', 'index.lock'), ''); // left by a killed git
  assert.equal(await history.commit('second', ''), true);
  fs.rmSync(path.join(root, '.git', 'index.lock'));
  assert.equal(person('show', 'HEAD:memory/b.md'), 'b');
  const lock = path.join(root, '.git', 'refs', 'heads', 'main.lock');
  fs.writeFileSync(lock, '');
  fs.utimesSync(lock, new Date(0), new Date(0));
  write('memory/c.md', 'c');
  assert.equal(await history.commit('third', ''), true);
  fs.writeFileSync(path.join(root, '.git', 'config'), '[core\n');
  write('memory/d.md', 'd');
  await paused(/git says:.*config/);
});

test('a person may commit, amend and switch branches between our commits', async (t) => {
  const { history, write, git: person } = ground(t);
  write('memory/a.md', 'a');
  await history.commit('first', '');
  write('.env', 'TOKEN=1');
  person('add', '-f', '.env');
  person('commit', '-q', '-m', 'mine, with a file that guild would not take');
  write('memory/b.md', 'b');
  await history.commit('second', '');
  assert.equal(person('ls-files').split('\n').join(' '), '.env memory/a.md memory/b.md');
  person('switch', '-q', '-c', 'other');
  person('commit', '-q', '--amend', '-m', 'amended');
  person('pack-refs', '--all');
  write('memory/c.md', 'c');
  await history.commit('third', '');
  assert.deepEqual(
    (await history.log()).map(({ subject }) => subject),
    ['third', 'amended', 'mine, with a file that guild would not take', 'first'],
  );
  assert.equal(person('status', '--porcelain'), '');
});

test('undo restores files as a new commit, can be undone, and keeps events and mail', async (t) => {
  const { history, write, read, root } = ground(t);
  write('tasks/pending/t.json', '{"description":"x"}');
  write('events/2026-01-01.jsonl', 'one\n');
  await history.commit('asked', 't @planner task.created');
  fs.rmSync(path.join(root, 'tasks/pending/t.json'));
  write('tasks/completed/t.json', '{"description":"x","result":"y"}');
  write('events/2026-01-01.jsonl', 'one\ntwo\n');
  write('inbox/slack.jsonl', '{}\n');
  write('.guild/run/t.call.done', 'yes');
  await history.commit('answered', 't @planner task.completed');
  write('memory/new.md', 'not yet committed');
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
  assert.equal(log[1]!.subject, 'before an undo');
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

test('files that move during a commit are in it, at their old or new place', async (t) => {
  const { root, history, write, git: person } = ground(t);
  const folders = ['pending', 'active', 'waiting'];
  for (const folder of folders) fs.mkdirSync(path.join(root, 'tasks', folder), { recursive: true });
  for (let i = 0; i < 20; i++) write(`tasks/pending/t${i}.json`, `{"description":"${i}"}`);
  const began = performance.now();
  await history.commit('start', '');
  const took = performance.now() - began;
  for (let at = 0; at < 8; at++) {
    const committed = history.commit(`during ${at}`, '', { evenIfSame: true });
    await new Promise((resolve) => setTimeout(resolve, (took * at) / 8));
    const [from, to] = [folders[at % 3]!, folders[(at + 1) % 3]!];
    for (let i = 0; i < 20; i += 5)
      fs.renameSync(path.join(root, 'tasks', from, `t${i}.json`), path.join(root, 'tasks', to, `t${i}.json`));
    await committed;
  }
  for (const { id, subject } of await history.log()) {
    const ids = new Set(
      person('ls-tree', '-r', '--name-only', id, 'tasks')
        .split('\n')
        .map((file) => path.basename(file)),
    );
    assert.equal(ids.size, 20, subject);
  }
});

test('processes that create the repository at the same moment never see half of it', async (t) => {
  const { root, again, write, git: person } = ground(t);
  // A git whose `init` pauses between creating the folder and filling it.
  const bin = path.join(root, '..', `slow-${path.basename(root)}`);
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  fs.mkdirSync(bin);
  t.after(() => fs.rmSync(bin, { recursive: true, force: true }));
  const slow = `#!/bin/sh\ncase " $* " in *" init "*) mkdir -p "$GIT_DIR"; sleep 0.3;; esac\nexec ${real} "$@"\n`;
  fs.writeFileSync(path.join(bin, 'git'), slow, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  write('memory/a.md', 'one\n');
  const late = async (ms: number): Promise<boolean> => {
    const history = again(env);
    await new Promise((resolve) => setTimeout(resolve, ms));
    return history.commit(`after ${ms} ms`, '', { evenIfSame: true });
  };
  assert.deepEqual(await Promise.all([0, 50, 100, 400].map(late)), [true, true, true, true]);
  assert.equal(person('rev-list', '--count', 'HEAD'), '4');
  assert.equal(person('config', '--get-all', 'core.bare'), 'false');
  assert.equal(person('config', '--default', 'none', '--get', 'core.worktree'), 'none');
  assert.deepEqual(
    fs.readdirSync(path.join(root, '.guild', 'git')).filter((name) => name.includes('.git')),
    [],
  );
});
