/** One `git fast-import` writes many commits and never waits for an event that is already past. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { test } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { importer } from '../../../src/adapters/git/repository/importer.js';

test('a small commit after a large one does not wait', { timeout: 180_000 }, async (t) => {
  const gitDir = tempFolder('importer', t);
  execFileSync('git', ['init', '--quiet', '--bare', gitDir]);
  const git = importer((args) => {
    const child = spawn('git', ['--git-dir', gitDir, ...args]);
    t.after(() => child.kill());
    return child;
  });
  const ada = { name: 'Ada', mail: 'ada@example.org' };
  const head = { ref: 'refs/heads/main', parent: undefined, author: ada, committer: ada, at: new Date(), message: 'm' };
  const commit = async (name: string, bytes: number): Promise<string> => {
    git.begin(head);
    git.put(name, '100644', Buffer.alloc(bytes, 'x'));
    if (name === 'small') await git.drained();
    return git.end();
  };
  await commit('large', 4_000_000); // more than the pipe takes at once
  const last = await commit('small', 10);
  await git.close();
  const names = execFileSync('git', ['--git-dir', gitDir, 'ls-tree', '--name-only', last], { encoding: 'utf8' });
  assert.deepEqual(names.split('\n'), ['large', 'small', '']);
});
