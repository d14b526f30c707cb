/** The list in test/security/README.md is true: every file and title that it names exists. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ROOT } from '../kit/guild.js';

const FOLDER = path.join(ROOT, 'test/security');
const ROW = /^\| (.+?) +\| `([\w./-]+)`: (.+?) +\|$/;

test('every finding, rule and surface names a test that exists', () => {
  const lines = fs.readFileSync(path.join(FOLDER, 'README.md'), 'utf8').split('\n');
  const rows = lines.filter((line) => /^\| (?!finding|rule|surface|-)/.test(line) && !line.startsWith('|---'));
  for (const row of rows) {
    const [, finding, file, title] = ROW.exec(row) ?? assert.fail(row);
    const text = fs.readFileSync(path.join(FOLDER, `${file}.test.ts`), 'utf8');
    // In the source, a title in single quotes has its own quotes escaped.
    const titles = [...text.matchAll(/test\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , quoted]) =>
      quoted!.replaceAll("\\'", "'"),
    );
    assert.ok(
      titles.some((each) => each.includes(title!)),
      `${finding}: ${file} has no test "${title}"`,
    );
  }
  const findings = [
    'C1',
    'C2',
    ...[1, 2, 3, 4, 5, 6].map((n) => `H${n}`),
    ...Array.from({ length: 10 }, (_, n) => `M${n + 1}`),
  ];
  for (const finding of findings)
    assert.ok(
      rows.some((row) => row.startsWith(`| ${finding} `)),
      finding,
    );
});
