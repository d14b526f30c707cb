/** The rules and measures of source trees, tried on a small tree that breaks them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { withSources } from '../kit/source/parse.js';
import { fileCycles, folderCycles, fullFolders, longFunctions, wideComments } from '../kit/source/rules.js';
import { commentTexts, messageTexts } from '../kit/source/texts.js';
import { unusedExports } from '../kit/source/unused-exports.js';

function tree(t: TestContext, files: Record<string, string>): string {
  const root = tempFolder('tree', t);
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  return root;
}

test('an inner function counts as one line of its outer function', (t) => {
  const inner = ['  function inner() {', ...Array.from({ length: 8 }, () => '    work();'), '  }'];
  const method = ['  return {', '    verb() {', '      work();', '    },', '  };'];
  const root = tree(t, { 'src/a.ts': ['function outer() {', ...inner, ...method, '}', ''].join('\n') });
  withSources(root, ['src'], ([source]) => {
    const lengths = source!.functions.map(({ name, lines, ownLines }) => [name, lines, ownLines]);
    assert.deepEqual(lengths, [
      ['outer', 17, 6],
      ['inner', 10, 10],
      ['verb', 3, 3],
    ]);
    assert.deepEqual(longFunctions([source!], 9), ['src/a.ts:2: inner has 10 lines']);
  });
});

test('comments are found wherever they are, and not in literals', (t) => {
  const text = [
    'const url = "http://not-a-comment-at-all.example.org/";',
    'const quoted = `// ${url /* wide enough to count */} /* no */`;',
    'const pattern = /\\/\\/ not one either/;',
    'work(); // wide enough to count',
    '/**',
    ' * wide enough to count',
    ' */',
  ].join('\n');
  withSources(tree(t, { 'src/a.ts': text }), ['src'], (sources) => {
    const lines = sources[0]!.comments.map(({ line }) => line);
    assert.deepEqual(lines, [2, 4, 5, 6, 7]);
    assert.deepEqual(wideComments(sources, 30), [
      'src/a.ts:2: the comment ends in column 51',
      'src/a.ts:4: the comment ends in column 31',
    ]);
  });
});

test('texts for readers are whole comments, and messages of four words', (t) => {
  const text = [
    '/**',
    ' * Two lines that are',
    ' * one comment.',
    ' */',
    'work(); // at the end',
    '// oxlint-disable-next-line no-such-rule',
    "say('./a/path.js', 'a name', `there is no agent ${name}`);",
  ].join('\n');
  withSources(tree(t, { 'src/a.ts': text }), ['src'], ([source]) => {
    assert.deepEqual(
      commentTexts(source!).map((comment) => [comment.line, comment.text]),
      [
        [1, 'Two lines that are one comment.'],
        [5, 'at the end'],
      ],
    );
    assert.deepEqual(messageTexts(source!), [{ file: 'src/a.ts', line: 7, text: 'there is no agent ${name}' }]);
  });
});

test('cycles between folders are found where files have none', (t) => {
  const root = tree(t, {
    'src/a/one.ts': "import { two } from '../b/two.js';\nexport const one = two;\n",
    'src/a/three.ts': 'export const three = 3;\n',
    'src/b/two.ts': "import type { three } from '../a/three.js';\nexport const two: typeof three = 3;\n",
  });
  withSources(root, ['src'], (sources) => {
    assert.deepEqual(fileCycles(sources), []);
    assert.deepEqual(folderCycles(sources), ['src/a, src/b']);
    assert.deepEqual(fullFolders(sources, 1), ['src/a has 2 files']);
  });
});

test('exports without users are found, also behind dynamic imports and compiled files', (t) => {
  const root = tree(t, {
    'src/a.ts': [
      'export const used = 1;',
      'export const late = 2;',
      'export const tested = 3;',
      'export const bin = 4;',
      'export interface Dead {}',
      'export const here = 5;',
      'export const sum = here + 1;',
    ].join('\n'),
    'src/b.ts':
      "import { used } from './a.js';\nexport const load = async () => (await import('./a.js')).late + used;\n",
    'src/c.ts': "export { used as passedOn } from './a.js';\nexport type { Kept, Lost } from './a.js';\n",
    'web/d.tsx': "import type { Kept } from '../src/c.ts';\nexport const page: Kept = {};\n",
    'test/a.test.ts': "import { tested } from '../src/a.js';\nimport { kit } from './kit.js';\ntested(kit);\n",
    'test/kit.ts': 'export const kit = 1;\nexport const spare = 2;\n',
    'bin/run.mjs': "import { bin } from '../dist/src/a.js';\nbin;\n",
  });
  withSources(root, ['src', 'web', 'test', 'bin'], (sources) => {
    const unused = unusedExports(sources).map(({ name, byTests, isUsedHere }) => [name, byTests, isUsedHere]);
    assert.deepEqual(unused, [
      ['tested', true, false],
      ['Dead', false, false],
      ['here', false, true],
      ['sum', false, false],
      ['load', false, false],
      ['passedOn', false, false],
      ['Lost', false, false],
      ['page', false, false],
      ['spare', false, false],
    ]);
  });
});
