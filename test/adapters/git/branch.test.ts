/** History on the branch of the workspace's own repository, with `git: {branch: true}`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { clock } from '../../../src/adapters/clock/index.js';
import { git } from '../../../src/adapters/git/index.js';
import { processes } from '../../../src/adapters/processes/index.js';
import { ProblemError } from '../../../src/domain/problem.js';
import { ground as anyGround, type Ground } from '../../kit/history/ground.js';

function ground(t: TestContext, inside = ''): Ground {
  return anyGround(t, { inside, branch: true });
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
  const history = again({ env: outside });
  assert.equal(await history.commit('first', ''), true);
  write('memory/a.md', 'three\n');
  history.changed(path.join(root, 'memory/a.md'));
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
  fs.mkdirSync(path.join(second, 'memory'));
  fs.writeFileSync(path.join(second, 'memory/a.md'), 'a');
  const history = git({ root: second, env: process.env, clock: clock(), processes: processes(), branch: true });
  history.changed(path.join(second, 'memory/a.md'));
  assert.equal(await history.commit('on the side', ''), true);
  await history.close();
  assert.equal(person(second, 'log', '-1', '--format=%s').trim(), 'on the side');
  assert.equal(person(second, 'status', '--porcelain').trim(), '');
  assert.equal((await again().log()).length, 1);
});

test('a detached HEAD or a merge pauses history, and a stale lock of the index does not', async (t) => {
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

test('a message names no file that the repository ignores', async (t) => {
  const { history, edit, git: person } = ground(t);
  edit('.gitignore', 'memory/private-*\n');
  edit('memory/a.md', 'one\n');
  await history.commit('first', '');
  edit('memory/a.md', 'two\n');
  edit('memory/private-plan.md', 'ours\n');
  await history.close();
  const messages = person('log', '--format=%B');
  assert.match(messages, /by hand: memory\/a\.md/);
  assert.doesNotMatch(messages, /private/);
});
