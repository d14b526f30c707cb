/** The parser agrees with real Bash about the arguments that a program gets. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import type { ShellNode, ShellScript } from '../../../src/domain/shell.js';
import { parseBash } from '../../../src/text/bash/parse.js';

/** The words of the only command; undefined if the line is not plain. */
function wordsOf(line: string): (string | undefined)[] | undefined {
  const parsed = parseBash(line);
  if (!parsed.ok || !parsed.script.plain || parsed.script.list.items.length !== 1) return undefined;
  const { node } = parsed.script.list.items[0]!;
  if (node.kind !== 'command' || node.redirections.length > 0) return undefined;
  return node.words.map((word) => (word.glob || word.tilde || word.dollarQuote ? undefined : word.value));
}

/** The arguments that real Bash passes for each of these texts. */
function realWords(lines: string[]): string[][] {
  // `eval` ends where the text ends, as `bash -c` does.
  const script = lines.map((text) => `eval 'printf "%s\\0" x '${quoted(text)}\nprintf '\\1'\n`).join('');
  const run = spawnSync('bash', ['--norc', '--noprofile', '-c', script], {
    encoding: 'utf8',
    cwd: '/',
    env: { HOME: '/h' },
  });
  return run.stdout
    .split('\u0001')
    .slice(0, -1)
    .map((part) => part.split('\0').slice(1, -1));
}

test('quotes, escapes and joined lines yield the words that Bash passes', () => {
  const texts = [
    'a b  c\td',
    `'a b' "c d" e\\ f`,
    `a'b'"c"\\d`,
    `'' "" x`,
    `"a\\"b" "a\\\\b" "a\\xb" "a\\$b" "a\\\`b"`,
    `'a\\b' a\\'b`,
    `"foo$" foo$ "a$ b" "x$|y$" "($)"`,
    `"a\\\nb"`,
    `a#b \\#c '#d'`,
    `HEAD~3 HEAD^ HEAD@{1} main..dev a~b`,
    `{} {a} a{b}c {{.Names}} "{a,b}"`,
    `'*.ts' "*.ts" \\*.ts`,
    `a=b --x=y -n20 +%F`,
    `-- - --- -`,
    `'é' "日本"`,
    `!x a!b`,
    `'a\nb'`,
  ];
  realWords(texts).forEach((real, n) => assert.deepEqual(wordsOf(`x ${texts[n]}`)?.slice(1), real, texts[n]));
});

test('for random shell words, the judged words equal those that Bash passes', () => {
  const bit = fc.constantFrom(
    ...[
      'a',
      'b',
      '-',
      '1',
      ' ',
      '  ',
      '\t',
      "'",
      '"',
      '\\',
      '\\\\',
      "\\'",
      '\\"',
      '\\ ',
      '\\\n',
      '$',
      '$ ',
      '#',
      '{',
      '}',
      ',',
    ],
    ...[
      '..',
      '~',
      '=',
      ':',
      '*',
      '?',
      '[',
      ']',
      '!',
      '^',
      '%',
      '@',
      '+',
      '/',
      '.',
      "'x y'",
      '"x y"',
      'é',
      "'é'",
      '{a,b}',
      '{1..3}',
    ],
  );
  const word = fc.array(bit, { minLength: 1, maxLength: 10 }).map((bits) => bits.join(''));
  const literal: string[] = [];
  const judged: string[][] = [];
  fc.assert(
    fc.property(word, (text) => {
      const words = wordsOf(`x ${text}`);
      if (words === undefined || words.includes(undefined)) return;
      literal.push(text);
      judged.push(words.slice(1) as string[]);
    }),
    { numRuns: 3000, seed: 7 },
  );
  assert.ok(literal.length > 200, `only ${literal.length} literal lines`);
  for (let from = 0; from < literal.length; from += 200) {
    const some = literal.slice(from, from + 200);
    const real = realWords(some);
    some.forEach((text, n) => assert.deepEqual(judged[from + n], real[n], JSON.stringify(text)));
  }
});

test('Bash accepts every plain line that is understood', () => {
  const bit = fc.constantFrom(
    'ls',
    'a',
    ' ',
    ' ',
    ';',
    '&',
    '|',
    '&&',
    '||',
    '|&',
    '\n',
    '(',
    ')',
    '{',
    '}',
    '#',
    '!',
    '>x',
    '2>&1',
    '<',
    'if',
    'fi',
    "'",
    '"',
  );
  const lines: string[] = [];
  fc.assert(
    fc.property(fc.array(bit, { minLength: 1, maxLength: 9 }), (bits) => {
      const parsed = parseBash(bits.join(''));
      if (parsed.ok && parsed.script.plain) lines.push(bits.join(''));
    }),
    { numRuns: 2000, seed: 11 },
  );
  assert.ok(lines.length > 100);
  // Each is read by Bash without being run: a function body is parsed when it is defined.
  const script = lines
    .map((line) => `eval 'f() { : \n'${quoted(line)}'\n }' 2>/dev/null && printf y || printf n`)
    .join('\n');
  const run = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  const refused = lines.filter((_, n) => run.stdout[n] !== 'y');
  assert.deepEqual(refused, []);
});

test('a line that is not plain is marked as such, and nothing in it is lost', () => {
  const cases: Record<string, string[]> = {
    '( a; b ) | c': ['a', 'b', 'c'],
    'if a; then b; elif c; then d; else e; fi': ['a', 'b', 'c', 'd', 'e'],
    'for i in $(a); do b; done': ['a', 'b'],
    'for ((i=$(a); i<$(b); i+=$(c))); do d; done': ['a', 'b', 'c', 'd'],
    'while a; do b; done < <(c)': ['a', 'b', 'c'],
    'until a; do b; done': ['a', 'b'],
    'case $(a) in $(b)|x) c;; *) d;& y) e;;& esac': ['a', 'b', 'c', 'd', 'e'],
    'select x in $(a); do b; done': ['a', 'b'],
    'f() { a; }; function g { b; }; h() ( c )': ['a', 'b', 'c'],
    'coproc a; coproc X { b; }': ['a', 'b'],
    '[[ $(a) == $(b) && ( -n $(c) || ! -f $(d) ) ]]': ['a', 'b', 'c', 'd'],
    '(( x = $(a) + `b` ))': ['a', 'b'],
    'x "$(a "$(b)")" `c \\`d\\`` <(e) >(f)': ['a', 'b', 'c', 'd', 'e', 'f', 'x'],
    'x ${v:-$(a)} ${v/$(b)/$(c)} ${v:$(d):$(e)} ${v[$(f)]} ${v#$(g)} ${v^$(h)}': [
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
      'x',
    ],
    'x $(( $(a) + ${v:-$(b)} )) $[ $(c) ]': ['a', 'b', 'c', 'x'],
    'v=$(a) w=($(b) c) x[$(d)]=1 y': ['a', 'b', 'd', 'y'],
    'export v=$(a)': ['a', 'export'],
    'x > $(a) 2> "$(b)" <<< $(c)': ['a', 'b', 'c', 'x'],
    'x <<E\n$(a) ${v:-$(b)}\nE': ['a', 'b', 'x'],
    "x <<'E'\n$(a)\nE": ['x'],
    'time -p a; ! b': ['a', 'b'],
    'a{$(b),c}': ['b'],
    'x "a{$(b),c}"': ['b', 'x'],
    'x @($(a)|b) [$(c)]': ['a', 'c', 'x'],
  };
  for (const [line, names] of Object.entries(cases)) {
    const parsed = parseBash(line);
    assert.ok(parsed.ok, `${line}: ${parsed.ok ? '' : parsed.reason}`);
    assert.deepEqual([...new Set(namesIn(parsed.script))].sort(), names, line);
  }
});

test('errors, unfinished lines and hostile depth are not understood', () => {
  for (const line of [
    'ls "',
    "ls '",
    'ls )',
    'ls &&',
    'if ls',
    'ls ;; x',
    '; ls',
    'ls $(',
    'ls `',
    '$('.repeat(100),
    '('.repeat(300),
  ]) {
    assert.equal(parseBash(line).ok, false, line.slice(0, 20));
  }
  const skipped = parseBash('ls (');
  assert.ok(!skipped.ok || !skipped.script.plain);
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function namesIn(script: ShellScript): string[] {
  const names: string[] = [];
  const words = (list: { scripts: ShellScript[] }[]): void =>
    list.forEach((word) => word.scripts.forEach((inner) => names.push(...namesIn(inner))));
  const visit = (node: ShellNode): void => {
    if (node.kind === 'list') node.items.forEach((item) => visit(item.node));
    else if (node.kind === 'pipeline') node.stages.forEach(visit);
    else if (node.kind === 'function') visit(node.body);
    else {
      words(node.redirections.map((redirection) => redirection.target));
      words(node.words);
      if (node.kind === 'block') node.bodies.forEach(visit);
      else {
        words(node.assignments.flatMap((assignment) => assignment.values));
        if (node.words[0]?.value !== undefined) names.push(node.words[0].value);
      }
    }
  };
  visit(script.list);
  return names;
}
