/** `guild init` and history in a person's own repository: nothing of theirs is touched. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { RUN_STATE } from '../../src/adapters/starter/index.js';
import { asPerson } from '../kit/history/ground.js';
import { place, ROOT, type Place } from '../kit/guild.js';

const MODEL = 'model: demo/story\nproviders:\n  demo: { kind: scripted, script: script.yaml }\n';
/** The orchestrator of the starter ends a task with a report. */
const SCRIPT = '- call: [{final_report: {report: lichen}}]\n';

/** A repository in the middle of somebody's work: staged, unstaged and untracked files, a stash. */
function dirtyRepository(t: TestContext, folder = ''): Place & { top: string; hooks: string } {
  const workspace = place(t);
  const top = path.join(workspace.root, folder);
  fs.mkdirSync(path.join(top, 'src'), { recursive: true });
  const put = (file: string, text: string): void => fs.writeFileSync(path.join(top, file), text);
  asPerson(top, 'init', '-q', '-b', 'main');
  for (const file of ['a.txt', 'b.txt', 'c.txt', 'src/main.ts']) put(file, 'one\n');
  put('script.yaml', SCRIPT);
  asPerson(top, 'add', '-A');
  asPerson(top, 'commit', '-q', '-m', 'mine');
  put('c.txt', 'stashed\n');
  asPerson(top, 'stash', '-q');
  put('a.txt', 'staged\n');
  asPerson(top, 'add', 'a.txt');
  put('b.txt', 'not staged\n');
  put('d.txt', 'untracked\n');
  put('.env', 'TOKEN=secret\n');
  const hooks = path.join(workspace.root, 'hooks-ran');
  for (const hook of ['pre-commit', 'post-commit', 'post-index-change', 'reference-transaction'])
    fs.writeFileSync(path.join(top, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${hooks}\n`, { mode: 0o755 });
  return { ...workspace, top, hooks };
}

/** Everything of a repository that only its owner may change. */
function theirs(top: string): unknown {
  const gitDir = asPerson(top, 'rev-parse', '--absolute-git-dir');
  const status = asPerson(top, '-c', 'core.hooksPath=/dev/null', 'status', '--porcelain', '-uall').split('\n');
  const ours =
    /^\?\? (.*\/)?(agents|bus|evals|events|memory|results|sessions|storage|tasks)\/|(guild\.yaml|README\.md)$/;
  return {
    status: status.filter((line) => line !== '' && !ours.test(line)),
    refs: asPerson(top, 'for-each-ref'),
    head: fs.readFileSync(path.join(gitDir, 'HEAD'), 'utf8'),
    stash: asPerson(top, 'stash', 'list'),
    staged: asPerson(top, 'diff', '--cached'),
    index: fs.readFileSync(path.join(gitDir, 'index')).toString('base64'),
    config: asPerson(top, 'config', '--list', '--local'),
    objects: asPerson(top, 'count-objects', '-v'),
  };
}

async function initAndRun({ guildWith }: Place, folder: string): Promise<void> {
  const init = await guildWith({ cwd: folder }, 'init', '.');
  assert.equal(init.code, 0, init.err);
  fs.writeFileSync(path.join(folder, 'guild.yaml'), MODEL);
  if (!fs.existsSync(path.join(folder, 'script.yaml'))) fs.writeFileSync(path.join(folder, 'script.yaml'), SCRIPT);
  const run = await guildWith({ cwd: folder }, 'run', 'orchestrator', 'Find a word');
  assert.deepEqual([run.code, run.out], [0, 'lichen\n'], run.err);
}

/** History is kept there, without a secret and without the person's files. */
function assertHistory(folder: string): void {
  const names = asPerson(folder, '--git-dir=.guild/history.git', 'ls-tree', '-r', '--name-only', 'HEAD').split('\n');
  assert.ok(names.includes('agents/orchestrator.md') && names.some((name) => name.startsWith('results/')));
  for (const name of names) assert.doesNotMatch(name, /\.env|\.txt$|^src\/|\.git/);
}

test('guild init and guild run leave a dirty repository as it was', async (t) => {
  const workspace = dirtyRepository(t);
  const { top, hooks } = workspace;
  const before = theirs(top);
  await initAndRun(workspace, top);
  assert.deepEqual(theirs(top), before);
  assert.equal(fs.existsSync(hooks), false, 'no hook ran');
  assert.equal(fs.existsSync(path.join(top, '.gitignore')), false);
  assertHistory(top);
});

test('init and run leave a larger repository around their folder as it was', async (t) => {
  const workspace = dirtyRepository(t, 'big');
  const { top, hooks } = workspace;
  fs.mkdirSync(path.join(top, 'crew'));
  fs.writeFileSync(path.join(top, 'crew/script.yaml'), SCRIPT);
  asPerson(top, '-c', 'core.hooksPath=/dev/null', 'add', 'crew');
  const before = theirs(top);
  await initAndRun(workspace, path.join(top, 'crew'));
  assert.deepEqual(theirs(top), before);
  assert.equal(fs.existsSync(hooks), false);
  assertHistory(path.join(top, 'crew'));
});

test('init and run leave a linked worktree and a submodule as they were', async (t) => {
  const workspace = dirtyRepository(t, 'big');
  const { top, hooks, root } = workspace;
  const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.file.allow=always'];
  asPerson(top, ...quiet, 'worktree', 'add', '-q', '-b', 'side', path.join(root, 'side'));
  asPerson(top, ...quiet, 'submodule', '--quiet', 'add', top, 'sub');
  for (const folder of [path.join(root, 'side'), path.join(top, 'sub')]) {
    const before = [theirs(folder), asPerson(top, 'for-each-ref')];
    await initAndRun(workspace, folder);
    assert.deepEqual([theirs(folder), asPerson(top, 'for-each-ref')], before);
    assertHistory(folder);
  }
  assert.equal(fs.existsSync(hooks), false);
});

test('in a repository init shows what to ignore, and --ignore adds it once', async (t) => {
  const { root, guild, guildWith } = place(t);
  asPerson(root, 'init', '-q');
  fs.writeFileSync(path.join(root, '.gitignore'), 'dist/\nsessions/');
  const shown = await guildWith({ cwd: root }, 'init', '.');
  assert.match(shown.err + shown.out, /commits nothing to it[^]*\.guild\/\n[^]*results\/\n/);
  assert.equal(fs.readFileSync(path.join(root, '.gitignore'), 'utf8'), 'dist/\nsessions/');
  for (let i = 0; i < 2; i++) assert.equal((await guild('init', root, '--ignore')).code, 0);
  const lines = fs.readFileSync(path.join(root, '.gitignore'), 'utf8').trim().split('\n');
  assert.deepEqual(lines.slice(0, 3), ['dist/', 'sessions/', '# run state of Guildhall']);
  assert.deepEqual(lines.slice(3).sort(), RUN_STATE.filter((line) => line !== 'sessions/').toSorted());
});

test('a new workspace has a folder for shared material', async (t) => {
  const { guild, root } = place(t);
  for (const args of [['one'], ['two', '--swarm']]) {
    assert.equal((await guild('init', ...args)).code, 0);
    assert.ok(fs.statSync(path.join(root, args[0]!, 'context')).isDirectory());
  }
});

test('the page on what to commit has the same lines', () => {
  const page = fs.readFileSync(path.join(ROOT, 'docs/how-to/what-to-commit.md'), 'utf8');
  const lines = /```gitignore\n([^]*?)```/.exec(page)![1]!.trim().split('\n');
  assert.deepEqual(lines, RUN_STATE);
});
