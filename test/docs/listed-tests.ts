/** Tables of tests in a README, with rows `| what | \`file\`: title |`: every title must exist. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const ROW = /^\| (.+?) +\| `([\w./-]+)`: (.+?) +\|$/;
const TITLE = /\b(?:test|check|always)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;

/** Returns the first cells. Files are relative to the folder of the README. */
export function listedTests(readme: string, heads: readonly string[]): string[] {
  const rows = fs
    .readFileSync(readme, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !heads.some((head) => line.startsWith(`| ${head}`)))
    .filter((line) => !/^\| *-+/.test(line));
  return rows.map((row) => {
    const [, what, file, title] = ROW.exec(row) ?? assert.fail(row);
    const text = fs.readFileSync(path.join(path.dirname(readme), fileName(file!)), 'utf8');
    // In the source, a title in single quotes has its own quotes escaped.
    const titles = [...text.matchAll(TITLE)].map(([, , quoted]) => quoted!.replaceAll("\\'", "'"));
    assert.ok(
      titles.some((each) => each.includes(title!)),
      `${what}: ${file} has no test "${title}"`,
    );
    return what!;
  });
}

function fileName(file: string): string {
  return file.endsWith('.ts') ? file : `${file}.test.ts`;
}
