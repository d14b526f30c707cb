/** The reference of the library names everything that the library exports. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MODEL_FAILURES } from '../../src/domain/session/model-failure.js';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const page = read('docs/reference/library.md');

test('the library reference names every export', () => {
  const source = read('src/app/index.ts');
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]+)\}/gm)].map((match) => match[1]!);
  const functions = [...source.matchAll(/^export (?:async )?function (\w+)/gm)].map((match) => match[1]!);
  const listed = lists.flatMap((list) => list.split(',')).map((name) => name.replace(/\btype\b/, '').trim());
  const names = [...functions, ...listed];
  assert.ok(names.includes('openWorkspace'));
  assert.deepEqual(
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page)),
    [],
  );
});

test('the library reference names every option and member of a workspace', () => {
  const source = read('src/app/open-options.ts') + read('src/app/open-workspace.ts');
  const membersOf = (name: string): string[] => {
    const body = new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(source)![1]!;
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map((match) => match[1]!);
  };
  const members = [...membersOf('OpenOptions'), ...membersOf('Workspace')];
  assert.ok(members.includes('run'));
  assert.deepEqual(
    members.filter((name) => !page.includes(`\`${name}`)),
    [],
  );
});

test('the library reference names every class of a failed model call', () => {
  assert.deepEqual(
    MODEL_FAILURES.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
