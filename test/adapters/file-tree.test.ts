/** The files of a folder as a cassette keeps them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { putFiles, tree } from '../../src/adapters/file-tree/index.js';

function folder(t: TestContext): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-tree-')));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  return root;
}

test('what is about to go by itself is not told, neither when it is there nor when it is gone', (t) => {
  const root = folder(t);
  fs.mkdirSync(path.join(root, 'tasks/active'), { recursive: true });
  const claim = path.join(root, 'tasks/active/a_ana-p1.json');
  fs.writeFileSync(claim, '{}');
  const files = tree({ root, secret: () => undefined });
  assert.deepEqual(
    files.look().map(({ file }) => file),
    ['tasks/active/a_ana-p1.json'],
  );
  fs.renameSync(claim, `${claim}.leaving`);
  fs.writeFileSync(path.join(root, 'tasks/b.leaving'), 'of a person');
  const changed = files.look().filter(({ folder: isFolder }) => isFolder !== true);
  assert.deepEqual(changed, [
    { file: 'tasks/b.leaving', text: 'of a person' },
    { file: 'tasks/active/a_ana-p1.json', gone: true },
  ]);
  fs.rmSync(`${claim}.leaving`);
  assert.deepEqual(files.look(), []);
});

test('a file that is to go may be gone already', (t) => {
  const root = folder(t);
  fs.writeFileSync(path.join(root, 'a'), '');
  putFiles(root, [
    { file: 'a', gone: true },
    { file: 'a', gone: true },
    { file: 'never/there', gone: true },
  ]);
  assert.deepEqual(fs.readdirSync(root), []);
});
