/**
 * The walks of the architecture page name files that exist, and the walk of a dropped file stays
 * short.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const page = fs.readFileSync(path.join(ROOT, 'docs/explanation/architecture.md'), 'utf8');
const MAX_FILES_OF_A_DROPPED_TASK = 35;

function filesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/`([a-z]+\/[\w/-]+\.ts)`/g)].map((match) => match[1]!))];
}

test('every file on a walk exists', () => {
  const files = filesIn(page).filter((file) => !file.startsWith('test/'));
  assert.ok(files.length > 40);
  assert.deepEqual(
    files.filter((file) => !fs.existsSync(path.join(ROOT, 'src', file))),
    [],
  );
});

test('a dropped file passes through fewer than 35 files', () => {
  const walk = page.split('### ').find((section) => section.startsWith('A dropped file'))!;
  const files = filesIn(walk);
  assert.ok(files.length < MAX_FILES_OF_A_DROPPED_TASK, `${files.length} files`);
});
