/** Files that only this process writes, such as those of its journal. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { disk as realDisk } from '../../../src/adapters/disk/index.js';

function folder(t: TestContext): string {
  const root = tempFolder('own', t);
  return root;
}

test('a preallocated file has its whole size in zeros, written page by page', (t) => {
  const disk = realDisk();
  const file = path.join(folder(t), 'log');
  const { mock } = t.mock.method(fs, 'writeSync');
  assert.equal(disk.preallocate(file, 10_000), true);
  const sizes = mock.calls.map(({ result }) => result);
  assert.deepEqual(sizes, [4096, 4096, 1808]);
  assert.deepEqual(fs.readFileSync(file), Buffer.alloc(10_000));
  assert.equal(disk.preallocate(file, 5), false);
  assert.equal(fs.statSync(file).size, 10_000);
});

test('bytes go where they belong, also after the file got another name, and the size stays', async (t) => {
  const disk = realDisk();
  const root = folder(t);
  const [first, second] = [path.join(root, '1.log'), path.join(root, '2.log')];
  disk.preallocate(first, 12);
  disk.writeOwn(first, 0, 'one');
  disk.writeOwn(first, 4, Buffer.from('two'));
  assert.equal(disk.rename(first, second), true);
  disk.writeOwn(second, 0, 'ONE');
  await disk.sync(second);
  disk.close();
  assert.equal(fs.readFileSync(second, 'latin1'), 'ONE\0two\0\0\0\0\0');
  assert.equal(fs.existsSync(first), false);
});
