/** The troubleshooting page has an entry for every problem code and quotes real messages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROBLEM_CODES } from '../../src/domain/problem.js';
import { withSources } from '../kit/source/parse.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(`${root}/docs/troubleshooting.md`, 'utf8');
const entries = [...page.matchAll(/^\*\*`(\w+)`\*\*/gm)].map((match) => match[1]!);

test('troubleshooting has one entry for every problem code', () => {
  assert.deepEqual(entries.toSorted(), [...PROBLEM_CODES].toSorted());
});

test('every message that the page quotes is one of the program', () => {
  const source = sourceText();
  const quoted = messages();
  assert.ok(quoted.length > 20);
  const missing = quoted.filter((message) => !message.split('…').every((part) => source.includes(part.trim())));
  assert.deepEqual(missing, []);
});

/** The quoted messages of all tables with the column `message`; `…` stands for what varies. */
function messages(): string[] {
  const tables = page.match(/^\| message \|.*(?:\n\|.*)+/gm) ?? [];
  const cells = tables.flatMap((table) => table.split('\n').map((row) => row.split(' | ')[0]!));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
}

function sourceText(): string {
  return withSources(root, ['src'], (sources) => sources.map(({ text }) => text).join('\n'));
}
