/** Snapshots of a folder, as a cassette stores them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { fileTree, putFiles } from '../../src/adapters/file-tree/index.js';

function folder(t: TestContext): string {
  const root = tempFolder('tree', t);
  return root;
}

test('the leaving claim of a settled task is never reported', (t) => {
  const root = folder(t);
  fs.mkdirSync(path.join(root, 'tasks/active'), { recursive: true });
  const claim = path.join(root, 'tasks/active/a_ana-p1.json');
  fs.writeFileSync(claim, '{}');
  const files = fileTree({ root, secret: () => undefined });
  assert.deepEqual(
    files.look().map(({ file }) => file),
    ['tasks/active/a_ana-p1.json'],
  );
  fs.renameSync(claim, `${claim}.leaving`);
  fs.writeFileSync(path.join(root, 'tasks/b.leaving'), "a person's file");
  const changed = files.look().filter(({ folder: isFolder }) => isFolder !== true);
  assert.deepEqual(changed, [
    { file: 'tasks/b.leaving', text: "a person's file" },
    { file: 'tasks/active/a_ana-p1.json', gone: true },
  ]);
  fs.rmSync(`${claim}.leaving`);
  assert.deepEqual(files.look(), []);
});

test('removing a file that is already gone does nothing', (t) => {
  const root = folder(t);
  fs.writeFileSync(path.join(root, 'a'), '');
  putFiles(root, [
    { file: 'a', gone: true },
    { file: 'a', gone: true },
    { file: 'never/there', gone: true },
  ]);
  assert.deepEqual(fs.readdirSync(root), []);
});
