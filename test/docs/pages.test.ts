/** A reader who starts at docs/README.md can reach every page. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

test('every page of the documentation can be reached from docs/README.md', () => {
  const reached = new Set(['docs/README.md']);
  for (const page of reached) {
    for (const [, link] of fs.readFileSync(path.join(ROOT, page), 'utf8').matchAll(/\]\(([^)#\s]+\.md)/g)) {
      const target = path.posix.join(path.posix.dirname(page), link!);
      if (fs.existsSync(path.join(ROOT, target))) reached.add(target);
    }
  }
  const pages = fs
    .readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  assert.deepEqual(
    pages.filter((page) => !reached.has(page)),
    [],
  );
});

test('headings that links name exist', () => {
  const anchorsOf = (file: string): Set<string> => {
    const prose = fs.readFileSync(file, 'utf8').replace(/```[\s\S]*?```/g, '');
    return new Set([...prose.matchAll(/^#{1,6} (.+)$/gm)].map((match) => anchor(match[1]!)));
  };
  const mistakes: string[] = [];
  for (const page of ['README.md', 'CHANGELOG.md', ...markdown('docs'), ...markdown('examples')]) {
    const text = fs.readFileSync(path.join(ROOT, page), 'utf8');
    for (const [, link, heading] of text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)) {
      const file = link === '' ? path.join(ROOT, page) : path.join(ROOT, path.dirname(page), link!);
      if (fs.existsSync(file) && file.endsWith('.md') && !anchorsOf(file).has(heading!))
        mistakes.push(`${page}: ${link}#${heading}`);
    }
  }
  assert.deepEqual(mistakes, []);
});

function markdown(folder: string): string[] {
  const files = fs.readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file}`);
}

/** As GitHub makes it from a heading. */
function anchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
